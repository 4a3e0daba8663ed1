/** A scheduler pod that was there lately. */
export interface Member {
  /** Its identity, which is also the holder of its leases. */
  readonly pod: string;
  /** How long ago it was heard, milliseconds of the store's clock. */
  readonly sinceHeardMs: number;
}

/** A cron whose next instant was due a while ago, and that nobody has accounted for as far as is known. */
export interface OverdueCron {
  readonly cron: string;
  /** How long ago it was due, milliseconds of the store's clock. */
  readonly overdueMs: number;
}

/** What a pod hears once a second, in one round trip. */
export interface HeartbeatReply {
  /** The store's clock, epoch milliseconds. */
  readonly now: number;
  /** Of the catalog: another one than known means that it has to be read again. `null`: its store did not answer in time. */
  readonly catalogVersion: number | null;
  /** The clock of the catalog's store, epoch milliseconds, where that is another store; absent: `now`. */
  readonly catalogNow?: number;
  /** Everybody heard within {@link MEMBER_GONE_MS}, the asking pod included, by name. */
  readonly members: readonly Member[];
  /** At most {@link MAX_OVERDUE}, the longest overdue first. */
  readonly overdue: readonly OverdueCron[];
}

/** Between two heartbeats of a pod. */
export const HEARTBEAT_MS = 1_000;

/** A pod that was not heard for so long has no share any more. */
export const MEMBER_GONE_MS = 3_500;

/** An occurrence that nobody has claimed so long after it was due needs somebody else. */
export const OVERDUE_MS = 500;

/** A holder that was not heard for so long may be dead: a heartbeat, and a fifth of one for its way. */
export const SUSPECT_AFTER_MS = 1_200;

export const MAX_OVERDUE = 1_000;

/**
 * Who is there, and what nobody has seen to. Only hints: who may act for a cron is decided by its lease, and what is true by
 * the claim.
 *
 * Every implementation passes `test/contracts/membership.contract.ts`.
 */
export interface Membership {
  /** Notes that the pod is there, and answers everything it has to know every second. */
  heartbeat(pod: string): Promise<HeartbeatReply>;
  /** At a graceful stop: the others take over its share at once. */
  leave(pod: string): Promise<void>;
  /**
   * Notes when the next instant of each cron is due, epoch milliseconds; `null` for one that has none.
   *
   * A past time, 0 say, asks the pods to look at a cron now: somebody has triggered it.
   */
  publishDue(dues: ReadonlyMap<string, number | null>): Promise<void>;
  /** When any pod was last heard, epoch milliseconds of the store; `null` for never. */
  lastHeard(): Promise<number | null>;
}
