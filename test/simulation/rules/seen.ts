import type { Run } from '@fencepost/ledger/run';
import type { LedgerBranch } from './branches.js';
import type { KnownCron } from './known.js';

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
