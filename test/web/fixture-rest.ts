import type { Answers } from '@fencepost/client';
import type { DoctorFinding } from '@fencepost/operations';
import type {
  presentAuditRecord,
  presentDueAt,
  presentForecast,
  presentJournalEntry,
  presentLease,
  presentOwnLease,
  presentPodList,
  presentWatch,
} from '@fencepost/operations/presenting';
import { at, CRON, LOST_RUN } from './fixture-runs.js';

type AuditRecordJson = ReturnType<typeof presentAuditRecord>;
type JournalEntryJson = ReturnType<typeof presentJournalEntry>;
type LeaseJson = ReturnType<typeof presentLease>;
type OwnLeaseJson = ReturnType<typeof presentOwnLease>;
type ForecastJson = ReturnType<typeof presentForecast>;
type DueAtJson = ReturnType<typeof presentDueAt>;
type PodJson = ReturnType<typeof presentPodList>['items'][number];

function pod(words: Partial<PodJson>): PodJson {
  return {
    ...{
      pod: 'scheduler-1/a1b2c3',
      label: 'scheduler-1',
      roles: ['scheduler'],
      host: 'node-a',
      pid: 17,
      node: '20.19.5',
    },
    ...{ startedAt: at(-9_000), version: '0.1.0', zoneData: '2026b', app: 'billing', revision: 42, ledger: 'redis' },
    ...{
      clockSkewMs: 3,
      rttMs: 0.8,
      lagMs: 11,
      leaseTtlMs: 30_000,
      assigned: 25,
      lateMs: 0,
      backlog: 0,
      weight: 1,
      held: 25,
      concurrency: null,
      running: null,
    },
    ...{ leases: 'redis', leaseNodes: [], handlers: [], seenAt: at(10) },
    ...words,
  };
}

const workerOnly = { assigned: null, held: null, leaseTtlMs: null, concurrency: 10, running: 3 };

export const PODS: readonly PodJson[] = [
  pod({}),
  pod({ pod: 'scheduler-2/0a9b8c', label: 'scheduler-2', host: 'node-b', clockSkewMs: -1_400 }),
  pod({ pod: 'worker-1/d4e5f6', label: 'worker-1', roles: ['worker'], handlers: [CRON], ...workerOnly }),
];

export const LEASES: readonly LeaseJson[] = [
  { cron: CRON, holder: 'scheduler-1/a1b2c3', fence: '1763607590001', remainingMs: 21_500, heldSince: at(-60) },
  {
    cron: 'cache-warm',
    holder: 'scheduler-2/0a9b8c',
    fence: '1763607590002',
    remainingMs: 8_000,
    heldSince: at(-3_600),
  },
];

export const OWN_LEASES: readonly OwnLeaseJson[] = [
  own({}),
  own({ kind: 'semaphore', resource: 'gpu', fence: '1763607590012', holder: 'batch-7/77aa88bb', holderIsPod: false }),
  own({ kind: 'semaphore', resource: 'gpu', fence: '1763607590013' }),
  own({ kind: 'election', resource: 'role:sweeper', fence: '1763607590014', heldSince: null }),
  own({ resource: 'patient:sha256-9f86d081884c7d659a2feaa0c55ad015', fence: '1763607590015' }),
];

function own(over: Partial<OwnLeaseJson>): OwnLeaseJson {
  return {
    ...{ kind: 'lease', resource: 'invoice:42', holder: 'worker-1/d4e5f6', fence: '1763607590011', holderIsPod: true },
    ...{ remainingMs: 8_000, heldSince: at(-60), ...over },
  };
}

/** What a look at a cleared lease says. */
export const WATCH: ReturnType<typeof presentWatch> = {
  ...{ verdict: 'doubtful', holder: 'worker-1/d4e5f6', fence: '1763607590020' },
  observations: [
    { kind: 'old-holder-is-back', level: 'warn', runId: null, text: 'worker-1/d4e5f6 is the old holder: it is alive.' },
  ],
};

/** What an order to clear a lease is answered with. */
export const CLEARED = { marker: { at: at(0), refusals: 3, ledgerAt: at(0) } };

/** As many leases as asked for, of the two schedulers by turns. */
export function leases(count: number): readonly LeaseJson[] {
  const holders = ['scheduler-1/a1b2c3', 'scheduler-2/0a9b8c'] as const;
  return Array.from({ length: count }, (_, n) => ({
    ...{ cron: `cron-${String(n).padStart(4, '0')}`, holder: holders[n % 2] ?? holders[0] },
    ...{ fence: '1763607590003', remainingMs: 21_500, heldSince: at(-60) },
  }));
}

export function entry(words: Partial<JournalEntryJson>): JournalEntryJson {
  return {
    ...{ id: '1763607600000-0', at: at(0), pod: 'scheduler-1/a1b2c3', role: 'scheduler', event: 'lease.acquired' },
    ...{ level: 'info', cron: CRON, runId: null, detail: { fence: '1763607590001', ttlMs: 30_000 } },
    ...words,
  };
}

export const JOURNAL: readonly JournalEntryJson[] = [
  entry({
    ...{ id: '5-0', at: at(31), event: 'attempt.refused', level: 'warn', runId: LOST_RUN, pod: 'worker-1/d4e5f6' },
    detail: { fence: '1763607590005', attempt: 1, step: 'effect' },
  }),
  entry({
    id: '4-0',
    at: at(30),
    event: 'attempt.begun',
    pod: 'worker-2/e7f8a9',
    runId: LOST_RUN,
    detail: { fence: '1763607590007', attempt: 2 },
  }),
  entry({
    ...{ id: '3-0', at: at(3), event: 'claim.stale', level: 'warn', pod: 'scheduler-2/0a9b8c' },
    detail: { fence: '1763607590000', accepted: '1763607590001' },
  }),
  entry({ id: '2-0', at: at(1), event: 'lease.acquired' }),
  entry({
    id: '1-0',
    at: at(-30),
    event: 'lease.lost',
    level: 'warn',
    detail: { fence: '1763607590000', cause: 'expired' },
  }),
];

const HOURS = Array.from({ length: 24 }, (_, n) => n);

export const FORECAST: ForecastJson = {
  ...{ from: at(0), to: at(24 * 3_600) },
  perHour: HOURS.map((n) => {
    const count = n === 3 ? 1_250 : 60 + ((n * 17) % 90);
    return { at: at(n * 3_600), count, peak: n === 3 ? 1_200 : 7, peakAt: at(n * 3_600) };
  }),
  stampedes: [{ at: at(3 * 3_600), crons: [CRON, 'cache-warm', 'invoice-collect'], count: 1_200 }],
  clockChanges: [
    {
      zone: 'Europe/Berlin',
      at: at(7_200),
      text: 'Clocks go from 03:00 back to 02:00: 12 crons come twice.',
      crons: 12,
    },
  ],
  next: HOURS.map((n) => ({ cron: n % 2 === 0 ? CRON : 'cache-warm', at: at(n * 600) })),
};

export const DUE_AT: DueAtJson = { at: at(3 * 3_600), crons: [CRON, 'cache-warm', 'invoice-collect'], count: 1_200 };

/** What needs a person, or nothing. */
export const TRIAGE: Answers['Triage'] = {
  ...{ now: at(60), examinedAt: at(58), wellSince: null, unread: 1 },
  items: [
    item({ kind: 'uncertain', count: 1, crons: [CRON], text: '1 cron waits for an operator.' }),
    item({ kind: 'failing', count: 9, crons: ['label-print', 'a', 'b', 'c', 'd'], text: '9 crons are failing.' }),
    item({ kind: 'finding', code: 'CLOCK_SKEW', danger: 'warning', text: 'Its clock is 1.4 s behind.' }),
  ],
};

export const WELL: Answers['Triage'] = { now: at(60), examinedAt: at(58), wellSince: at(-7_200), unread: 0, items: [] };

function item(over: Partial<Answers['Triage']['items'][number]>): Answers['Triage']['items'][number] {
  return { kind: 'failing', count: 1, crons: [], text: '', code: null, danger: 'error', ...over };
}

export const FINDINGS: readonly DoctorFinding[] = [
  { code: 'persistence', level: 'ok', subject: 'Redis', text: 'It writes an append-only file.', todo: null },
  {
    ...{ code: 'eviction', level: 'bad', subject: 'Redis' },
    text: 'Its maxmemory-policy is allkeys-lru: it may forget leases, runs and effects.',
    todo: 'Set maxmemory-policy noeviction, and give it enough memory.',
  },
  {
    ...{ code: 'clock-skew', level: 'warn', subject: 'scheduler-2/0a9b8c' },
    text: 'Its clock is 1.4 s behind that of the store.',
    todo: 'Look after its time service.',
  },
];

export const MUTES = [
  {
    ...{ cron: null, tag: 'billing', since: at(0), until: '2026-12-24T18:00:00.000Z' },
    ...{ by: 'anna', reason: 'the bank is down' },
  },
];

export const RECEIVER = {
  ...{ id: 'a1b2c3d4e5f6', kind: 'webhook', to: 'https://alerts.example', secrets: 2, crons: null, moreCrons: 0 },
  events: ['alarm.raised', 'alarm.cleared'],
  deliveries: [
    {
      ...{ at: at(30), messageId: 'msg_1', about: 'alarm.raised', cron: 'invoice-collect', attempt: 2 },
      ...{ outcome: 'failed', status: 503, tookMs: 120, error: 'it answered 503' },
    },
  ],
};

export const AUDIT: readonly AuditRecordJson[] = [
  {
    ...{ id: '9-0', at: at(60), by: 'anna', role: 'operator', action: 'pause', cron: 'invoice-collect', runId: null },
    ...{
      crons: [],
      before: { paused: null },
      after: { paused: { by: 'anna' } },
      reason: 'the mail server moves',
      from: '10.0.0.7',
    },
  },
];
