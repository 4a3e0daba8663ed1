import type { Clock } from '@fencepost/lease';
import { LEDGER_TIMING, type LedgerTiming } from '../base/ledger-timing.js';
import { MemoryAttemptLog } from './memory-attempt-log.js';
import { MemoryLedgerStore } from './memory-ledger-store.js';

/**
 * The ledger in memory, for tests: an adapter like `RedisLedger`, on the same contract suite. One instance is one store, and
 * `clock` is the store's clock. Every method runs in one turn of the event loop, which is what makes it atomic.
 */
export class MemoryLedger extends MemoryAttemptLog {
  /** Everything it holds, to be taken and put back. */
  readonly state: Pick<MemoryLedgerStore, 'save' | 'restore'>;

  constructor(clock: Clock, timing: Partial<LedgerTiming> = {}) {
    super(new MemoryLedgerStore(clock, { ...LEDGER_TIMING, ...timing }));
    this.state = this.store;
  }
}
