import { describe, expect, it } from 'vitest';
import type { Run } from '@fencepost/ledger/run';
import { judgeDeployment, needsCare } from './doctor.js';
import { runAt } from '../../../../test/support/audit-history.js';
import {
  entryNamed,
  healthy,
  NOW,
  DAY,
  HOUR,
  MINUTE,
  overviewNamed,
  happenedAt,
  redisOf,
  podOf,
  processNamed,
  found,
  withOne,
  withServer,
  type Over,
  describeFindings,
  ONE,
  OTHER,
  withBoth,
} from './doctor.stage.js';

describe('what is found of a deployment', () => {
  it('is told the worst first, and ends with what was looked at', () => {
    const findings = judgeDeployment(
      healthy({ ...withOne({ leaseTtlMs: 20_000, clockSkewMs: 2_000 }), ...withServer({ role: 'slave' }) }),
    );
    expect(findings.map(({ level }) => level)).toEqual(['bad', 'warn', 'note', 'ok']);
    expect(findings.at(-1)?.text).toBe(
      'Checked 2 pods, 1 cron, Redis 7.0.15, the ledger in redis: no further findings.',
    );
  });

  it('needs care only where it is bad or a warning', () => {
    const care = (over: Over) => needsCare(judgeDeployment(healthy(over)));
    expect([
      care({}),
      care(withOne({ seenAt: NOW - 9_000 })),
      care(withServer({ role: 'slave' })),
      care(withOne({ leaseTtlMs: 20_000 })),
    ]).toEqual([false, true, true, false]);
  });

  it('is one finding for all crons of one kind', () => {
    const entries = Array.from({ length: 12 }, (_, n) => entryNamed({ name: `gone-${n}` }, { app: 'shop' }));
    expect(found({ entries })).toEqual(['warn ORPHANED gone-0, gone-1, gone-2, gone-3, gone-4 and 7 more']);
    const unknown = Array.from({ length: 12 }, (_, n) => entryNamed({ name: `gone-${n}` }));
    const names = 'gone-0, gone-1, gone-2, gone-3, gone-4 and 7 more';
    expect(found({ entries: unknown })).toEqual([`bad NO_CAPABLE_WORKER ${names}`]);
  });
});

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

const asks = (agoMs: number): Over => ({
  uncertain: [
    runAt(NOW, {
      state: 'uncertain',
      unresolvedEffect: { effect: 'pay', item: null, unknownReason: 'lost', since: NOW - agoMs },
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

const NO_WORKER = 'no-capable-worker';
const WAITS = { state: 'enqueued', waiting: NO_WORKER, attemptedAt: null } as const;

function skippedBehind(run: Run): Over {
  const last = runAt(NOW, { ...WAITS, state: 'skipped', skipped: NO_WORKER, claimedAt: NOW });
  return { crons: [overviewNamed({ last })], outcomes: { looked: [{ cron: 'tick', runs: [last, run] }], left: 0 } };
}

describe('the findings of the doctor about crons', () => {
  const foreign = entryNamed({ timeZone: 'Europe/Berlin' }, { zoneData: '2024a' });

  describeFindings('doctor-crons', [
    ['nobody has the handler', { entries: [entryNamed({ name: 'gone' })] }, 'bad NO_CAPABLE_WORKER gone'],
    [
      'a run-time cron names a handler nobody has',
      { entries: [entryNamed({ name: 'made', handler: 'gone' }, { app: null })] },
      'bad NO_CAPABLE_WORKER made',
    ],
    [
      'a run-time cron names one that is there',
      { entries: [entryNamed({ name: 'made', handler: 'tick' }, { app: null })] },
      null,
    ],
    ['the cron does not fire', { entries: [entryNamed({ name: 'gone' }, { state: 'removed' })] }, null],
    ['its app is gone', { entries: [entryNamed({ name: 'gone' }, { app: 'shop' })] }, 'warn ORPHANED gone'],
    ['a run waits for a worker', { crons: [overviewNamed({ last: runAt(NOW, WAITS) })] }, 'warn RUNS_WAIT tick'],
    [
      'instants are skipped because a run waits for a worker',
      skippedBehind(runAt(NOW - MINUTE, WAITS)),
      'warn RUNS_WAIT tick',
    ],
    ['a worker has begun that run since', skippedBehind(runAt(NOW, { attemptedAt: NOW + 1 })), null],
    ['a run has just asked', asks(MINUTE), 'note UNCERTAIN tick@1772452800000'],
    ['a run asks for a while', asks(HOUR), 'warn UNCERTAIN tick@1772452800000'],
    ['a run asks for days', asks(2 * DAY), 'bad UNCERTAIN tick@1772452800000'],
    ['a cron is overdue', { redis: redisOf({ late: [{ cron: 'tick', overdueMs: 31_000 }] }) }, 'bad OVERDUE tick'],
    [
      'a cron is overdue and no pod is known',
      { pods: [], unreported: null, redis: redisOf({ late: [{ cron: 'tick', overdueMs: 31_000 }] }) },
      'bad OVERDUE tick',
    ],
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
});

describe('the findings of the doctor about pods', () => {
  const GONE = entryNamed({ name: 'gone' });

  const inBerlin = [entryNamed({ timeZone: 'Europe/Berlin' })];

  describeFindings('doctor-pods', [
    [
      'no scheduler is alive',
      { ...withBoth({ roles: ['worker'] }), lastHeard: NOW - HOUR },
      'bad NO_SCHEDULER schedulers',
    ],
    [
      'no scheduler was ever there',
      { ...withBoth({ roles: ['worker'] }), lastHeard: null },
      'bad NO_SCHEDULER schedulers',
    ],
    [
      'the only schedulers do not report',
      { ...withBoth({ roles: ['worker'] }), unreported: [processNamed('old/0123456789', true)] },
      'note POD_UNREPORTED old/01234567',
    ],
    [
      'the only workers do not report',
      { ...withBoth({ roles: ['scheduler'] }), unreported: [processNamed('old/0123456789')] },
      'note POD_UNREPORTED old/01234567',
    ],
    [
      'a process without a report may have what no worker has',
      { entries: [entryNamed({ name: 'gone' })], unreported: [processNamed('old/0123456789')] },
      'note POD_UNREPORTED old/01234567',
    ],
    [
      'a process without a report may run a program that no worker runs',
      { entries: [entryNamed({}, { app: 'shop' })], unreported: [processNamed('old/0123456789')] },
      'note POD_UNREPORTED old/01234567',
    ],
    [
      'one scheduler reports and another does not',
      { pods: [ONE], unreported: [processNamed('old/0123456789', true)] },
      'note POD_UNREPORTED old/01234567',
    ],
    ['no pod is known', { pods: [], unreported: null }, null],
    ['a worker has not begun', { pods: [ONE, { ...OTHER, handlers: [], concurrency: null }], entries: [GONE] }, null],
    ['no worker is alive', withBoth({ roles: ['scheduler'] }), 'bad NO_WORKER workers'],
    ['nobody is alive, and nothing is to be done', { pods: [], entries: [] }, null],
    ['the pods are unknown', { pods: [], live: null }, null],
    ['there is one scheduler', { pods: [ONE] }, 'note ONE_SCHEDULER pod-a/01234567'],
    ['a pod is silent', withOne({ seenAt: NOW - 9_000 }), 'warn POD_SILENT pod-a/01234567'],
    ['a clock is ahead', withOne({ clockSkewMs: 1_500 }), 'warn POD_CLOCK pod-a/01234567'],
    ['a clock is far behind', withOne({ clockSkewMs: -11_000 }), 'bad POD_CLOCK pod-a/01234567'],
    ['a clock may be ahead, as far as that is known', withOne({ clockSkewMs: 1_500, rttMs: 1_100 }), null],
    [
      'an event loop is late for its leases',
      withOne({ lagMs: 2_100, runLeaseMs: 60_000 }),
      'warn LEASE_TTL pod-a/01234567',
    ],
    [
      'an event loop is far too late for them',
      withOne({ lagMs: 4_100, runLeaseMs: 60_000 }),
      'bad LEASE_TTL pod-a/01234567',
    ],
    [
      'the store is slow for a short ttl',
      {
        pods: [
          { ...ONE, leaseTtlMs: 300, rttMs: 65 },
          { ...OTHER, leaseTtlMs: 300 },
        ],
      },
      'warn LEASE_TTL pod-a/01234567',
    ],
    [
      'a worker is late for its runs',
      { pods: [ONE, OTHER, podOf({ pod: 'w/01234567', roles: ['worker'], lagMs: 6_000 })] },
      'warn RUN_LEASE w/01234567',
    ],
    [
      'a worker is far too late for them',
      { pods: [ONE, OTHER, podOf({ pod: 'w/01234567', roles: ['worker'], lagMs: 11_000 })] },
      'bad RUN_LEASE w/01234567',
    ],
    ['a scheduler sweeps rarely', withOne({ sweepEveryMs: 120_000 }), 'warn SLOW_SWEEP pod-a/01234567'],
    ['one pod records elsewhere', withOne({ ledger: 'postgres' }), 'bad MIXED_LEDGERS pod-a/01234567'],
    ['all pods record elsewhere', withBoth({ ledger: 'postgres' }), 'bad OTHER_LEDGER pod-a/01234567, pod-b/fedcba98'],
    ['versions are mixed', withOne({ version: '0.2.0' }), 'warn MIXED_VERSIONS 2 pods'],
    [
      'versions are mixed while it rolls',
      withOne({ version: '0.2.0', startedAt: NOW - MINUTE }),
      'note MIXED_VERSIONS 2 pods',
    ],
    ['tz databases are mixed', { ...withOne({ zoneData: '2026a' }), entries: inBerlin }, 'warn MIXED_ZONE_DATA 2 pods'],
    ['tz databases are mixed and all is UTC', withOne({ zoneData: '2026a' }), 'note MIXED_ZONE_DATA 2 pods'],
    ['ttls are mixed', withOne({ leaseTtlMs: 20_000 }), 'note MIXED_TTLS schedulers'],
    [
      'a server of the quorum is left out',
      withOne({
        leaseNodes: [
          { node: 'a:6379', healthy: true },
          { node: 'b:6379', healthy: false },
        ],
      }),
      'warn QUORUM_NODE b:6379',
    ],
    ['a burst drains', withOne({ lateMs: 9_000, backlog: 5_000 }), null],
    ['a pod is behind', withOne({ lateMs: 11_000, backlog: 5_000 }), 'warn POD_BEHIND pod-a/01234567'],
    [
      'a pod is a minute behind, and sheds',
      withOne({ lateMs: 61_000, backlog: 1, weight: 0.25 }),
      'bad POD_BEHIND pod-a/01234567',
    ],
    ['leases are in two places', withOne({ leases: 'etcd:http://a:2379' }), 'warn MIXED_LEASES schedulers'],
  ]);
});
