import { runAt } from '../../../../test/support/audit-history.js';
import { DAY, HOUR, MINUTE, NOW, overviewNamed } from '../../../../test/support/doctor-facts.js';
import { describeFindings, type Over } from '../../../../test/support/doctor-table.js';
import type { Run } from '../../../ledger/src/base/run.js';

const failed: Partial<Run> = { state: 'failed', error: 'no paper' };
const of = (...runs: Partial<Run>[]): Over => ({
  outcomes: { looked: [{ cron: 'tick', runs: runs.map((over, n) => runAt(NOW - n * HOUR, over)) }], left: 0 },
});
const waits = (agoMs: number, over: Partial<Run> = {}): Partial<Run> => ({
  ...{ state: 'enqueued', attempt: 0, dueAt: NOW - agoMs, waiting: null, reason: 'schedule' },
  ...over,
});
const dropped = (agoMs: number): Over => ({
  crons: [overviewNamed({ droppedNotifications: { count: 3, lastAt: NOW - agoMs } })],
});
const done: Partial<Run> = { state: 'succeeded' };

describeFindings('doctor-outcomes', [
  ['the newest run failed', of(failed, done), 'warn FAILING tick'],
  ['three runs failed in a row', of(failed, failed, failed, done), 'bad FAILING tick'],
  ['a run failed and the next one goes on', of({ state: 'running' }, failed, done), 'warn FAILING tick'],
  ['a run failed before the newest success', of({ state: 'running' }, done, failed), null],
  [
    'no run has ever ended',
    of({ state: 'skipped' }, { state: 'skipped', dueAt: NOW - 2 * HOUR }),
    'warn NEVER_SUCCEEDED tick',
  ],
  ['no run has ended yet, for some minutes', of({ state: 'running', dueAt: NOW - MINUTE }), null],
  ['no worker begins a run', of(waits(2 * MINUTE), done), 'warn RUNS_LATE tick'],
  ['a run is about to begin', of(waits(MINUTE / 2), done), null],
  ['a backfilled run waits its turn', of(waits(HOUR, { reason: 'backfill' }), done), null],
  ['a run waits for a retry', of(waits(HOUR, { attempt: 1 }), done), null],
  ['notifications were dropped', dropped(HOUR), 'warn NOTIFICATIONS_DROPPED tick'],
  ['notifications were dropped long ago', dropped(2 * DAY), null],
  ['not every cron was looked at', { outcomes: { looked: [], left: 7 } }, 'note NOT_ALL_LOOKED_AT crons'],
]);
