import { runAt } from '../../../../test/support/audit-history.js';
import {
  DAY,
  entryNamed,
  happenedAt,
  HOUR,
  MINUTE,
  NOW,
  overviewNamed,
  redisOf,
} from '../../../../test/support/doctor-facts.js';
import { describeFindings, type Over } from '../../../../test/support/doctor-table.js';

const asks = (agoMs: number): Over => ({
  uncertain: [
    runAt(NOW, {
      state: 'uncertain',
      question: { effect: 'pay', item: null, unknownReason: 'lost', since: NOW - agoMs },
    }),
  ],
});
const paused = (agoMs: number, until: number | null): Over => ({
  crons: [overviewNamed({ paused: { since: NOW - agoMs, until, by: 'otto', reason: 'x' } })],
});
const lost = (count: number, agoMs = MINUTE): Over => ({
  happened: Array.from({ length: count }, () =>
    happenedAt(agoMs, 'lease.lost', { cron: 'tick', detail: { cause: 'expired' } }),
  ),
});
const foreign = entryNamed({ timeZone: 'Europe/Berlin' }, { zoneData: '2024a' });

describeFindings('doctor-crons', [
  ['nobody has the handler', { entries: [entryNamed({ name: 'gone' })] }, 'bad NO_CAPABLE_WORKER gone'],
  [
    'a run-time cron names a handler nobody has',
    { entries: [entryNamed({ name: 'made', handler: 'gone' }, { source: null })] },
    'bad NO_CAPABLE_WORKER made',
  ],
  [
    'a run-time cron names one that is there',
    { entries: [entryNamed({ name: 'made', handler: 'tick' }, { source: null })] },
    null,
  ],
  ['the cron does not fire', { entries: [entryNamed({ name: 'gone' }, { state: 'removed' })] }, null],
  ['its program is gone', { entries: [entryNamed({ name: 'gone' }, { source: 'shop' })] }, 'warn ORPHANED gone'],
  ['a later build has declared it', { entries: [entryNamed({}, { buildSeq: 7 })] }, 'warn OUTDATED_BUILD app'],
  [
    'a run waits for a worker',
    { crons: [overviewNamed({ last: runAt(NOW, { waiting: 'no-capable-worker' }) })] },
    'warn RUNS_WAIT tick',
  ],
  ['a run has just asked', asks(MINUTE), 'note UNCERTAIN tick@1772452800000'],
  ['a run asks for a while', asks(HOUR), 'warn UNCERTAIN tick@1772452800000'],
  ['a run asks for days', asks(2 * DAY), 'bad UNCERTAIN tick@1772452800000'],
  ['a cron is overdue', { redis: redisOf({ late: [{ cron: 'tick', overdueMs: 31_000 }] }) }, 'bad OVERDUE tick'],
  ['a cron is a little late', { redis: redisOf({ late: [{ cron: 'tick', overdueMs: 29_000 }] }) }, null],
  [
    'a paused cron is late',
    { ...paused(HOUR, null), redis: redisOf({ late: [{ cron: 'tick', overdueMs: HOUR }] }) },
    null,
  ],
  ['a cron is paused for long', paused(8 * DAY, null), 'note PAUSED_LONG tick'],
  ['a cron is paused for long, until a time', paused(8 * DAY, NOW + DAY), null],
  ['a record cannot be read', { unreadable: [{ name: 'bad', reason: 'x' }] }, 'bad RECORD_UNREADABLE bad'],
  [
    '… and a pod has reported it as well',
    {
      unreadable: [{ name: 'bad', reason: 'x' }],
      happened: [happenedAt(MINUTE, 'catalog.unreadable', { cron: 'bad' })],
    },
    'bad RECORD_UNREADABLE bad',
  ],
  ['another tz database declared it', { entries: [foreign] }, 'note FOREIGN_ZONE_DATA tick'],
  [
    'a schedule can not be read',
    { happened: [happenedAt(MINUTE, 'catalog.unreadable', { cron: 'tick' })] },
    'bad UNREADABLE tick',
  ],
  ['leases are lost', lost(3), 'warn LEASES_LOST pod-a/01234567'],
  ['a lease or two was lost', lost(2), null],
  ['leases were lost hours ago', lost(3, 2 * HOUR), null],
  [
    'stale writes were refused',
    { happened: [happenedAt(MINUTE, 'claim.stale', { cron: 'tick' })] },
    'note STALE_WRITES pod-a/01234567',
  ],
]);
