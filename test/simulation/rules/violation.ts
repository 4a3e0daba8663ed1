import type { Run } from '@fencepost/ledger/run';
import type { LedgerBranch } from './branches.js';
import type { KnownCron } from './known.js';

/** The invariants of the protocols by their names there, and what has to hold besides. */
export type Invariant =
  | `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10}`
  /** A run took a step that the state table doesn't have. */
  | 'table'
  /** A cron that is paused makes no runs. */
  | 'pause'
  /** An instant within its grace is never left out as a misfire. */
  | 'grace'
  /** No more runs of a cron go on at once than may. */
  | 'overlap'
  /** Everything goes on once all faults are over. */
  | 'liveness'
  /** The auditor finds something that the recount does not, or the other way round. */
  | 'audit'
  /** What the systems behind the effects have seen. */
  | 'sinks'
  /** In force is what the live pods declare. */
  | 'definitions'
  /** Each change of a definition is told. */
  | 'silent';

/** Something happened that the system promises never to let happen. */
export class Violation extends Error {
  override readonly name = 'Violation';

  constructor(
    readonly invariant: Invariant,
    message: string,
  ) {
    super(`${invariant}: ${message}`);
  }
}

/** @throws {Violation} unless it holds; the text is only put together then */
export function demand(holds: boolean, invariant: Invariant, text: () => string): asserts holds {
  if (!holds) throw new Violation(invariant, text());
}

/** One call that the ledger has answered, and what is known of its cron from before. */
export interface Seen<Request, Reply> {
  readonly cron: KnownCron;
  readonly request: Request;
  readonly reply: Reply;
  /** The store's clock at the call. */
  readonly now: number;
  /** Of the runs that the call may have touched, what the ledger had of each right after it. */
  readonly records: ReadonlyMap<string, Run | null>;
  /** Within this of being due an instant is not late, by the clock of whoever made the call. */
  readonly graceMs: number;
  readonly saw: (branch: LedgerBranch) => void;
}
