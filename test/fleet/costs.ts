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
  ...{ heartbeatUs: 20, heartbeatPodUs: 0.8, heartbeatCommands: 12, heartbeatPodCommands: 1, sessionUs: 8 },
  ...{
    sessionCommands: 3,
    renewUs: 1.5,
    acquireUs: 6,
    acquireCommands: 4,
    releaseUs: 4,
    readCronUs: 2,
    publishUs: 1.2,
  },
  ...{ catalogUs: 7, claimUs: 14, enqueueUs: 20, confirmUs: 6, runUs: 120, instantCommands: 20, runCommands: 40 },
  ...{ redisBytes: 600, knownBytes: 950, heldBytes: 2_800, podUsPerInstant: 100, assignNsPerPair: 4 },
};
