import { FencepostError } from '@fencepost/lease';

/** What the shell is told. */
export const EXIT = {
  ok: 0,
  /** What was claimed does not hold, or something was found. */
  finding: 1,
  /** The command line, a file or a name is wrong: nothing was changed. */
  usage: 2,
  /** The store, or the console in front of it, could not be asked: whether something was changed is not known. */
  away: 3,
  /** A fault of this program. Not 1, so that nobody takes a crash for an audit's answer. */
  broken: 70,
} as const;

/** Something on the command line, or in a file it names, has to be written differently. */
export class UsageError extends FencepostError {
  readonly code = 'USAGE';
}

/** The store can't be reached, or stopped answering; or a console is that way. */
export class StoreError extends FencepostError {
  readonly code = 'STORE_AWAY';
}

/** A store stopped answering in the middle of an order: whether it took effect is not known. */
export class OrderCutError extends Error {
  constructor(override readonly cause: Error) {
    super(cause.message, { cause });
  }
}

/** The program under torture can't be looked at: nothing can be said for it, which is no better than something against it. */
export class AppError extends FencepostError {
  readonly code = 'TORTURE_APP';
}
