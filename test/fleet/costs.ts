/** What the stores and a pod spend, measured. Microseconds of one Redis, unless a name says otherwise. */
export interface Costs {
  /** A sign of life without a reply, and with one; a look at the members. */
  readonly beatUs: number;
  readonly heartbeatUs: number;
  readonly membersUs: number;
  /** Of a reply and a look besides: for each sign of life since the last. */
  readonly entryUs: number;
  /** Commands inside Redis. */
  readonly beatCommands: number;
  readonly heartbeatCommands: number;
  readonly membersCommands: number;
  readonly sessionUs: number;
  readonly sessionCommands: number;
  /** Per cron. */
  readonly renewUs: number;
  readonly acquireUs: number;
  readonly acquireCommands: number;
  readonly releaseUs: number;
  readonly readCronUs: number;
  readonly publishUs: number;
  /** Whether an idle cron has open runs. */
  readonly openRunsUs: number;
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
export const POD_BASE_MB = 95;

/**
 * Measured on two cores of a Xeon with Redis 7.0, by `npm run sim:fleet -- --measure`, which prints them: the middle one of three
 * runs. Calls that a pod makes alone are measured one at a time, 2 ms apart, and carry what the server spends on waking up; what is
 * called for many crons is measured in batches of 250. `POD_BASE_MB`, `knownBytes` and `heldBytes` are not printed: they are the RSS
 * of pods that have settled under `npm run bench:scale -- --cases pods`, from one pod and from three.
 */
export const MEASURED: Costs = {
  ...{ beatUs: 46, heartbeatUs: 84, membersUs: 43, entryUs: 0.35, sessionUs: 32, sessionCommands: 3 },
  ...{ beatCommands: 1, heartbeatCommands: 5, membersCommands: 1, openRunsUs: 0.52 },
  ...{ renewUs: 2.4, acquireUs: 8.7, acquireCommands: 4, releaseUs: 6.2, readCronUs: 2.7, publishUs: 0.88 },
  ...{
    catalogUs: 3.6,
    claimUs: 15.5,
    enqueueUs: 20,
    confirmUs: 7.1,
    runUs: 96,
    instantCommands: 18.5,
    runCommands: 35,
  },
  ...{ redisBytes: 700, knownBytes: 700, heldBytes: 600, podUsPerInstant: 64, assignNsPerPair: 7.9 },
};
