import { LEDGER_BATCH } from './ledger-timing.js';
import { deliveryOfRun } from './memory-delivery.js';
import type { MemoryLedgerStore } from './memory-ledger-store.js';
import type { OverdueOptions, OverdueRuns } from './overdue.js';

export function overdueInMemory(
  store: MemoryLedgerStore,
  name: string,
  { againMs, keep }: OverdueOptions,
): OverdueRuns {
  const now = store.now();
  const watched = store
    .runs(name, ({ lookAt }) => lookAt !== null)
    .map((run) => ({ run, lookAt: run.lookAt ?? Infinity }));
  const due = watched.filter(({ lookAt }) => lookAt <= now).toSorted((a, b) => a.lookAt - b.lookAt);
  const shown = due.slice(0, LEDGER_BATCH).map(({ run }) => {
    run.lookAt = now + againMs;
    return { ...deliveryOfRun(run), state: run.record.state };
  });
  const { runs, skips, notifications } = store.cron(name);
  const surplus = runs.size > keep || skips.length > keep;
  return { runs: shown, watched: watched.length, surplus, notifications: notifications.length };
}
