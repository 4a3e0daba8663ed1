/** What the stores and a pod spend, measured. Microseconds of one Redis, unless a name says otherwise. */
export interface Costs {
  /** One heartbeat is this, and this again for each live pod. */
  readonly heartbeatUs: number;
  readonly heartbeatPodUs: number;
  /** Commands inside Redis. */
  readonly heartbeatCommands: number;
  readonly heartbeatPodCommands: number;
  readonly sessionUs: number;
  readonly sessionCommands: number;
  /** Per cron. */
  readonly renewUs: number;
  readonly acquireUs: number;
  readonly acquireCommands: number;
  readonly releaseUs: number;
  readonly readCronUs: number;
  readonly publishUs: number;
  readonly catalogUs: number;
  /** Per instant: claimed, enqueued and confirmed, and the run begun, finished and taken by a worker. */
  readonly claimUs: number;
  readonly enqueueUs: number;
  readonly confirmUs: number;
  readonly runUs: number;
  readonly instantCommands: number;
  readonly runCommands: number;
  /** Bytes of Redis per idle cron. */
  readonly redisBytes: number;
  /** Bytes of a pod: per cron of the catalog, and besides per cron that it holds. */
  readonly knownBytes: number;
  readonly heldBytes: number;
  /** Processor time of a pod. */
  readonly podUsPerInstant: number;
  readonly assignNsPerPair: number;
}

/** Any other call. */
export const OTHER_US = 20;
export const OTHER_COMMANDS = 2;
/** Of a call and its reply, milliseconds: the latency between zones of one region. */
export const ROUND_TRIP_MS = 1;
/** A pod without crons. */
export const POD_BASE_MB = 110;

/**
 * Measured on two cores of a Xeon with Redis 7: by `npm run sim:fleet -- --measure`, which prints them; what a pod keeps by
 * `npm run bench:scale -- --cases pods`, from its RSS alone and with three pods.
 */
export const MEASURED: Costs = {
  ...{ heartbeatUs: 85, heartbeatPodUs: 1.7, heartbeatCommands: 16, heartbeatPodCommands: 1, sessionUs: 38 },
  ...{
    sessionCommands: 3,
    renewUs: 2,
    acquireUs: 11,
    acquireCommands: 4,
    releaseUs: 8.1,
    readCronUs: 3.1,
    publishUs: 1.3,
  },
  ...{ catalogUs: 3.9, claimUs: 19, enqueueUs: 24, confirmUs: 9.4, runUs: 127, instantCommands: 18.5, runCommands: 35 },
  ...{ redisBytes: 856, knownBytes: 950, heldBytes: 2_800, podUsPerInstant: 69, assignNsPerPair: 9 },
};
