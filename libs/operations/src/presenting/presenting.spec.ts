import { parseFence } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CRON, definitionOf, entryOf, generationsOf, runAt, START } from '../../../../test/support/audit-history.js';
import { overviewOf } from '../operating/cron-overview.js';
import { reportOf } from '../operating/run-report.js';
import { presentAuditRecord } from './audit-record.js';
import { presentCronDetail } from './cron-detail.js';
import { presentCronSummary, presentPause } from './cron-summary.js';
import { presentJournalEntry } from './journal-entry.js';
import { presentLease } from './lease.js';
import { presentPod } from './pod.js';
import { presentRunReport } from './run-report.js';
import { presentRun } from './run.js';
import { SCHEMAS } from './schemas.js';
import { describeSchedule } from './describe-schedule.js';

const HOLDER = 'pod-7/3f1c9a52-0000-4000-8000-000000000000';

const SECRET = '0000-4000-8000';

const PAUSE = { since: START, until: null, by: 'ann', reason: 'a flood' };

const QUESTION = { effect: 'card', item: 'a', unknownReason: 'lost', since: START } as const;

function pod() {
  return presentPod({
    ...{ pod: HOLDER, label: 'pod-7', roles: ['scheduler'], host: 'h', pid: 1, startedAt: START, version: '0.1.0' },
    ...{ node: 'v20', zoneData: '2025b', app: null, revision: 7, ledger: 'redis', clockSkewMs: -3, rttMs: 1, lagMs: 2 },
    ...{ leaseTtlMs: 10_000, assigned: 5, held: 5, concurrency: null, running: null, handlers: [], seenAt: START },
  });
}

function journalEntry() {
  const entry = { id: '1-0', at: START, pod: HOLDER, role: 'worker', event: 'lease.lost', level: 'warn' } as const;
  return presentJournalEntry({ ...entry, cron: CRON, runId: null, detail: { fence: '7' } });
}

function auditRecord() {
  const record = { id: '1-0', at: START, by: 'ann', role: 'admin', action: 'remove', cron: CRON, runId: null };
  return presentAuditRecord({ ...record, before: { a: 1 }, reason: null, from: '127.0.0.1' });
}

describe('presented values', () => {
  const RUN = runAt(START, {
    ...{ state: 'uncertain', claimedBy: HOLDER, worker: HOLDER, claimFence: parseFence('1787654321123456') },
    ...{ startedAt: START + 1_500, finishedAt: START + 4_000, payload: '{"month":3}', unresolvedEffect: QUESTION },
    ...{ missed: { count: 2, from: START, to: START }, cancel: { at: START, by: 'ann', until: START } },
  });

  const ENTRY = entryOf(generationsOf({ since: START - 10_000 }, { since: START, expression: '0 3 * * *' }));

  const OVERVIEW = overviewOf(ENTRY, { record: undefined, last: RUN }, START + 1);

  const LEASE = { holder: HOLDER, fence: parseFence('1787654321123456'), remainingMs: 9_000 };

  async function report() {
    const ledger = {
      effects: async () => [
        {
          ...({ name: 'card', state: 'begun', since: START, finishedAt: null, fence: parseFence('7') } as const),
          ...{ result: null, error: null, payloadHash: null },
        },
      ],
      items: async () => [{ key: 'a', state: 'begun', error: null, since: START } as const],
    };
    return presentRunReport(await reportOf(ledger, RUN, []));
  }

  describe('an answer', () => {
    it.each([
      ['Run', () => presentRun(RUN)],
      ['Run', () => presentRun(runAt(START))],
      ['RunReport', report],
      ['Pause', () => presentPause(PAUSE)],
      ['CronSummary', () => presentCronSummary({ ...OVERVIEW, paused: PAUSE }, { lease: LEASE, uncertain: 1 })],
      ['CronSummary', () => presentCronSummary({ ...OVERVIEW, last: null })],
      ['CronDetail', () => presentCronDetail({ overview: OVERVIEW, entry: ENTRY, record: { refusals: 3 } })],
      ['Lease', () => presentLease({ cron: CRON, ...LEASE })],
      ['Pod', pod],
      ['JournalEntry', journalEntry],
      ['AuditRecord', auditRecord],
    ] as const)('of the kind %s is as its schema says, and survives JSON', async (kind, make) => {
      const made: unknown = await make();
      const schema: z.ZodType = SCHEMAS[kind];
      expect(schema.parse(JSON.parse(JSON.stringify(made)))).toEqual(made);
    });

    it.each(Object.entries(SCHEMAS))(
      'of the kind %s can be described in JSON Schema, every part in words',
      (_, schema) => {
        const described = z.toJSONSchema(schema as z.ZodType, { target: 'draft-2020-12' });
        const { properties = {}, description } = described;
        expect(description).toMatch(/\.$/);
        for (const part of Object.values(properties)) expect(JSON.stringify(part)).toContain('"description"');
      },
    );

    it('shows of a holder and of a worker no more than logs do', async () => {
      const shown = [presentRun(RUN), presentCronSummary(OVERVIEW, { lease: LEASE }), pod(), journalEntry()];
      expect(JSON.stringify([...shown, presentLease({ cron: CRON, ...LEASE }), await report()])).not.toContain(SECRET);
      expect(presentRun(RUN).claimedBy).toBe('pod-7/3f1c9a52');
    });
  });

  describe('a run', () => {
    it('tells instants in ISO 8601, fences as text, its payload as data, how late it was and how long it took', () => {
      expect(presentRun(RUN)).toMatchObject({
        ...{ scheduledAt: '2026-03-02T08:00:00.000Z', claimFence: '1787654321123456', payload: { month: 3 } },
        ...{ lateByMs: 1_500, tookMs: 2_500, unresolvedEffect: { since: '2026-03-02T08:00:00.000Z' } },
      });
    });

    it('that has not begun is not late yet, and took no time', () => {
      const waiting = runAt(START, { state: 'enqueued', startedAt: null, finishedAt: null });
      expect(presentRun(waiting)).toMatchObject({ lateByMs: null, tookMs: null });
    });
  });

  describe('a cron', () => {
    it('has every policy, also those that nobody wrote down', () => {
      const detail = presentCronDetail({ overview: OVERVIEW, entry: ENTRY, record: { refusals: 3 } });
      expect(detail).toMatchObject({
        ...{ dst: { gap: 'next-valid', repeat: 'first' }, spreadMs: 0, maxConcurrency: 1, startDeadlineMs: null },
        ...{ expectEveryMs: null, lateAfterMs: null, refusals: 3, manual: false, holder: null, leaseLeftMs: null },
      });
      expect(detail.generations.map(({ generation }) => generation)).toEqual([1, 2]);
    });

    it('without instants says so', () => {
      const manual = { ...OVERVIEW, expression: '@manual' };
      expect(presentCronSummary(manual)).toMatchObject({ manual: true });
      expect(definitionOf().name).toBe(OVERVIEW.name);
    });
  });
});

describe('a schedule in words', () => {
  it.each([
    ['* * * * * *', 'every second in UTC'],
    ['*/15 * * * * *', 'every 15 seconds in UTC'],
    ['* * * * *', 'every minute in UTC'],
    ['*/5 * * * *', 'every 5 minutes in UTC'],
    ['7 * * * *', 'every hour at minute 7 in UTC'],
    ['0 */6 * * *', 'every 6 hours at minute 0 in UTC'],
    ['30 2 * * *', 'every day at 02:30 in UTC'],
    ['0 9 * * 1-5', 'from Monday to Friday at 09:00 in UTC'],
    ['0 9 * * MON', 'every Monday at 09:00 in UTC'],
    ['0 9 * * 7', 'every Sunday at 09:00 in UTC'],
    ['0 0 1 * *', 'on day 1 of every month at 00:00 in UTC'],
    ['0 0 24 12 *', 'every year on 24 December at 00:00 in UTC'],
    ['@daily', 'every day at 00:00 in UTC'],
    ['@manual', 'when somebody asks for it'],
    ['@every 30s', 'every 30 s'],
    [' @every  05m ', 'every 5 min'],
  ])('%s: %s', (expression, words) => {
    expect(describeSchedule({ expression, timeZone: 'UTC' })).toBe(words);
  });

  it.each([
    ...['*/7 * * * *', '*/50 * * * * *', '0 */5 * * *', '0,30 * * * *', '0 9 1 * 1', 'H H * * *', '5 0 3 * * *'],
    ...['0 9 L * *', '0 9 * * 1#2', '0 9 * * 1,3', '0 9-17 * * *', '0 0 1 JAN *', '30 * 1 * *', '0 25 * * *'],
  ])('is the expression itself where words would be long or nearly right: %s', (expression) => {
    expect(describeSchedule({ expression, timeZone: 'Europe/Berlin' })).toBe(`"${expression}" in Europe/Berlin`);
  });

  it('says that it is spread', () => {
    const words = describeSchedule({ expression: '0 3 * * *', timeZone: 'UTC', spreadMs: 60_000 });
    expect(words).toBe('every day at 03:00 in UTC, spread over some time');
  });
});
