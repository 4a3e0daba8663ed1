/** A cron of `@nestjs/schedule`, as a pod has it. */
export interface ShadowCron {
  /** Its own name, or class and method. */
  readonly name: string;
  readonly expression: string;
  /** IANA name: its own, or the machine's. */
  readonly timeZone: string;
}

/** What happened to a cron in a pod, by the clock of that pod. */
export interface ShadowRecord {
  /**
   * `due`: Fencepost would have run it in this pod, at this instant. `tick`: the pod ran it. `busy`: the pod left the tick out,
   * since the one before was still going on.
   */
  readonly kind: 'due' | 'tick' | 'busy';
  readonly cron: string;
  readonly pod: string;
  /** Epoch milliseconds: of `due` the instant, of the others when it happened. */
  readonly at: number;
}

/** A cron that was watched, and between which two times. Epoch milliseconds. */
export interface WatchedCron extends ShadowCron {
  readonly since: number;
  readonly until: number;
}

/**
 * An interval of `@nestjs/schedule`, which counts from the boot of each pod and runs in each: pods share no instants, so there
 * is nothing to compare.
 */
export interface ShadowInterval {
  /** Its own name, or class and method. */
  readonly name: string;
  /** `null` for one that was added at run time: its registry doesn't tell. */
  readonly everyMs: number | null;
}

export interface ShadowReading {
  readonly crons: readonly WatchedCron[];
  /** By name. */
  readonly intervals: readonly ShadowInterval[];
  /** Oldest first. */
  readonly records: readonly ShadowRecord[];
  /** Records before this were dropped, epoch milliseconds; `null` for none. */
  readonly droppedBefore: number | null;
}

/** Beyond this many records, the oldest are dropped. */
export const MAX_SHADOW_RECORDS = 100_000;

/** Records are kept this long, and everything is gone when no pod has written for as long. */
export const SHADOW_AGE_MS = 7 * 86_400_000;

/** Where all pods record what the old way did, and what Fencepost would have done. Nothing runs because of it. */
export interface ShadowLog {
  /** @param crons those that the pod watches, up to now by its clock; or none, where only records are to be kept */
  write(crons: readonly WatchedCron[], records: readonly ShadowRecord[]): Promise<void>;
  /** @param seenAt epoch milliseconds of the pod that has them */
  writeIntervals(intervals: readonly ShadowInterval[], seenAt: number): Promise<void>;
  read(): Promise<ShadowReading>;
}
