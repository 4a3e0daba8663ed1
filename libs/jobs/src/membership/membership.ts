import { FencepostError } from '@fencepost/lease';
import { FORMAT } from '@fencepost/ledger/format';

/** A live scheduler pod. */
export interface Member {
  /** Its identity, also the holder of its leases. */
  readonly pod: string;
  /** Time since its last heartbeat, milliseconds of the store's clock. */
  readonly sinceHeardMs: number;
  /** Its share of the crons relative to the others', as it announced it; default 1. A pod that is behind announces less. */
  readonly weight?: number;
}

/** A live process of the deployment: a scheduler pod, a worker, or both. */
export interface LiveProcess {
  /** Its identity, also the holder of its leases. */
  readonly process: string;
  /** Whether it sends the heartbeats of a scheduler pod; a worker only says that it lives. */
  readonly isScheduler: boolean;
  /** Time since it was last heard, milliseconds of the store's clock. */
  readonly sinceHeardMs: number;
}

/** A scheduler pod, or a process whose format alone matters. */
export type ProcessKind = 'pod' | 'process';

/** A cron whose published due time has passed without a newer one being published. */
export interface OverdueCron {
  readonly cron: string;
  /** Time since it was due, milliseconds of the store's clock. */
  readonly overdueMs: number;
}

/** The lowest format of the live processes, and one process that has it. */
export interface LowestFormat {
  readonly format: number;
  /** `null`: no process lives. */
  readonly process: string | null;
}

/** The reply to a process that is no scheduler pod. */
export interface Announced extends LowestFormat {
  /** As in {@link HeartbeatReply}. */
  readonly catalogVersion: number | null;
  /** As in {@link HeartbeatReply}. */
  readonly isAlone: boolean;
}

/** The reply to a heartbeat. */
export interface HeartbeatReply {
  /** The store's clock, epoch milliseconds. */
  readonly now: number;
  /** A version other than the cached one means that the catalog must be read again. `null`: its store did not reply in time. */
  readonly catalogVersion: number | null;
  /** The clock of the catalog's store, epoch milliseconds, if that is another store; default `now`. */
  readonly catalogNow?: number;
  /** All pods with a heartbeat within {@link MEMBER_GONE_MS}, this one included, sorted by name. */
  readonly members: readonly Member[];
  /** At most {@link MAX_OVERDUE}, the longest overdue first. */
  readonly overdue: readonly OverdueCron[];
  /** Of all processes, this one included. */
  readonly lowest: LowestFormat;
  /** No other process was heard for {@link ALONE_AFTER_MS}: nobody waits for signs of life, or is woken in place of this one. */
  readonly isAlone: boolean;
}

/** Between two heartbeats of a pod. */
export const HEARTBEAT_MS = 1_000;

/** A pod with nothing due soon asks for a reply this often only, and says in between that it is alive, unless it is alone. */
export const REPLY_MS = 3_000;

/** Between two looks of a pod that watches others, at least: a suspected one is looked at this often. */
export const WATCH_MS = 50;

/** A pod without a heartbeat for this long is no member any more. */
export const MEMBER_GONE_MS = 3_500;

/** As long as a frozen process may still have a command that blocks, and longer than it takes to leave the membership. */
export const ALONE_AFTER_MS = 12_000;

/** A cron is reported as overdue this long after its due time. */
export const OVERDUE_MS = 500;

/** A member without a heartbeat for this long is suspected: one interval, and a fifth of one for the round trip. */
export const SUSPECT_AFTER_MS = 1_200;

export const MAX_OVERDUE = 1_000;

/**
 * The live pods and the overdue crons. Only hints: the lease decides which pod may act for a cron, and the claim decides what
 * is accepted.
 *
 * Every implementation passes `test/contracts/membership.contract.ts`.
 */
export interface Membership {
  /**
   * Records that the pod is alive, its format and its weight. A pod that announces no format has the first one.
   * @param weight default 1
   * @throws {FormatBehindError} when the deployment has written a format that this process can't read
   */
  heartbeat(pod: string, weight?: number): Promise<HeartbeatReply>;
  /**
   * Records that the process is still alive, its format and its weight, without a reply: it costs the store next to nothing. As with
   * {@link announce}, the heartbeat of a scheduler pod speaks for the worker of the same process.
   * @param weight default 1
   */
  beat(process: string, kind: ProcessKind, weight?: number): Promise<void>;
  /** The members alone, sorted by name, without a heartbeat: cheap enough for several looks a second. Empty before the first heartbeat. */
  members(): Promise<readonly Member[]>;
  /**
   * Records that a process that is no scheduler pod is alive, and its format, as a heartbeat does. Nothing is sent where the same
   * process has just sent a heartbeat; the reply is the one to its last then.
   * @throws {FormatBehindError}
   */
  announce(process: string): Promise<Announced>;
  /**
   * For a process that is no member, before it writes.
   * @throws {FormatBehindError}
   */
  lowestFormat(): Promise<LowestFormat>;
  /** At a graceful stop, or when its session was ended: the others take over its crons at once, and its format counts no more. */
  leave(pod: string): Promise<void>;
  /**
   * Records the next due time of each cron, epoch milliseconds; `null` for a cron without one.
   *
   * A time long past, such as 0, asks the holder to recheck the cron now: a run was triggered.
   */
  publishDue(dues: ReadonlyMap<string, number | null>): Promise<void>;
  /**
   * All live processes, sorted by name, those of former builds included; for a look, without a sign of life.
   * @throws {FormatBehindError}
   */
  processes(): Promise<readonly LiveProcess[]>;
  /** The last heartbeat of any pod, epoch milliseconds of the store; `null` for none. */
  lastHeard(): Promise<number | null>;
}

/** A process too old for its deployment: it can't read what the others write. */
export class FormatBehindError extends FencepostError {
  readonly code = 'FORMAT_BEHIND';

  constructor(
    readonly written: number,
    readonly own: number = FORMAT,
  ) {
    super(
      `This process reads records up to format ${own + 1}, but its deployment writes format ${written}. Upgrade it.`,
    );
  }
}
