import type { Answers } from '@fencepost/client';
import type { presentTimeline, presentWhyReport } from '@fencepost/operations/presenting';
import { at, CRON, LOST_RUN, REPORT, run, UNCERTAIN } from './fixture-runs.js';

type TimelineJson = ReturnType<typeof presentTimeline>;
type TimelineItemJson = TimelineJson['items'][number];
type WhyReportJson = ReturnType<typeof presentWhyReport>;
type CronSummaryJson = Answers['CronSummary'];
type CronDetailJson = Answers['CronDetail'];

const HOUR = 3_600;

function summary(words: Partial<CronSummaryJson> = {}): CronSummaryJson {
  return {
    ...{ name: CRON, expression: '0 * * * *', timeZone: 'Europe/Berlin', state: 'active', manual: false, paused: null },
    ...{
      generation: 2,
      since: at(-40 * HOUR),
      next: at(HOUR),
      cursor: at(0),
      last: run(),
      holder: 'scheduler-1/a1b2c3',
    },
    ...{ fence: '1763607590001', leaseLeftMs: 24_000, waiting: null, uncertain: 0 },
    ...{ app: 'billing', revision: 42, tags: ['billing'] },
    ...{ description: null, owner: null, runbookUrl: null },
    health: { state: 'healthy', since: null, failures: 0, text: 'healthy' },
    marks: MARKS,
    ...{ duration: { p50Ms: 1_200, p95Ms: 1_200 }, startDelayP95Ms: 15 },
    ...words,
  };
}

/** What its people say of the first one. */
const SAID = {
  description: 'Collects the figures of the hour, and sends them to the accountants.',
  owner: 'Team Billing',
  runbookUrl: 'https://wiki.example/runbooks/report',
};

/** The newest 30, of which two failed and one was asked for. */
const MARKS: CronSummaryJson['marks'] = Array.from({ length: 30 }, (_, n) => ({
  ...{ at: at((n - 29) * HOUR), runId: run().id, tookMs: 1_200 + n * 7, lateByMs: n === 12 ? null : 15 },
  ...{ outcome: n === 8 || n === 20 ? 'failed' : 'ran', asked: n === 12 ? 'manual' : null },
}));

const made = new Map<number, readonly CronSummaryJson[]>();

/** As many crons as asked for, of every state. */
export function crons(count: number): readonly CronSummaryJson[] {
  const known = made.get(count) ?? make(count);
  made.set(count, known);
  return known;
}

function ill(state: CronSummaryJson['health']['state'], text: string): CronSummaryJson['health'] {
  return { state, since: at(-HOUR), failures: 0, text };
}

function make(count: number): CronSummaryJson[] {
  const pause = { since: at(-HOUR), until: null, by: 'anna', reason: 'the mail server moves' };
  const kinds: Partial<CronSummaryJson>[] = [
    { ...SAID, name: CRON, last: UNCERTAIN, uncertain: 1, health: ill('uncertain', 'uncertain') },
    {
      name: 'invoice-collect',
      health: ill('paused', 'paused'),
      paused: pause,
      next: null,
      holder: null,
      fence: null,
      leaseLeftMs: null,
    },
    {
      name: 'old-export',
      state: 'removed',
      health: ill('removed', 'removed'),
      next: null,
      holder: null,
      fence: null,
      leaseLeftMs: null,
    },
    {
      ...{ name: 'import-by-hand', expression: '@manual', manual: true, next: null, last: null },
      ...{ marks: null, duration: null, startDelayP95Ms: null, health: ill('unknown', 'history not read yet') },
    },
    {
      name: 'cache-warm',
      last: run({ state: 'enqueued', waiting: 'no-capable-worker' }),
      waiting: 'no-capable-worker',
      health: ill('no-worker', 'no worker'),
    },
    { name: 'label-print', health: { ...ill('failing', 'failing (6 in a row)'), failures: 6 } },
  ];
  const plain = (n: number) => summary({ name: `cron-${String(n).padStart(4, '0')}`, holder: 'scheduler-2/0a9b8c' });
  return Array.from({ length: count }, (_, n) => (kinds[n] ? summary(kinds[n]) : plain(n)));
}

export function detail(words: Partial<CronDetailJson> = {}): CronDetailJson {
  const generation = { state: 'active' as const, timeZone: 'Europe/Berlin', reason: null };
  return {
    ...summary(SAID),
    ...{
      misfire: 'fire-once',
      overlap: 'skip',
      graceMs: 60_000,
      catchUpWindowMs: null,
      spreadMs: 0,
      maxConcurrency: 1,
    },
    declarations: {
      revisions: [
        { app: 'billing', revision: 42, pods: 2, declares: 'same' },
        { app: 'billing', revision: 41, pods: 1, declares: 'differently' },
      ],
      undeclared: null,
    },
    ...{ dst: { gap: 'next-valid', repeat: 'first' }, startDeadlineMs: null, expectEveryMs: 7_200_000 },
    ...{
      lateAfterMs: null,
      handler: null,
      payload: { month: '2026-11', lines: ['first', 'second', 'third', 'fourth'] },
    },
    ...{ zoneData: '2026b', refusals: 3, keys: 0, scheduleText: 'every hour, at its beginning' },
    generations: [
      {
        ...{
          ...generation,
          generation: 1,
          expression: '30 * * * *',
          since: at(-900 * HOUR),
          by: 'billing revision 41',
        },
        changes: [],
      },
      {
        ...{ ...generation, generation: 2, expression: '0 * * * *', since: at(-40 * HOUR), by: 'billing revision 42' },
        changes: [{ part: 'expression', was: '30 * * * *', is: '0 * * * *' }],
      },
    ],
    ...words,
  };
}

const OUTCOMES: readonly Partial<TimelineItemJson>[] = [
  { outcome: 'ran' },
  { outcome: 'late', lateByMs: 95_000 },
  { outcome: 'retried', attempt: 2, tookMs: 64_000 },
  { outcome: 'failed', attempt: 3 },
  { outcome: 'uncertain', runId: LOST_RUN, tookMs: null },
  { outcome: 'cancelled', tookMs: null },
  { outcome: 'skipped', reason: 'overlap', runId: null, lateByMs: null, tookMs: null, attempt: 0 },
  { outcome: 'merged', reason: 'merged', runId: null, lateByMs: null, tookMs: null, attempt: 0 },
  { outcome: 'missed', runId: null, lateByMs: null, tookMs: null, attempt: 0, until: at(-20 * HOUR), count: 4 },
  { outcome: 'ran', asked: 'manual', lateByMs: null, reason: 'manual' },
  { outcome: 'ran', asked: 'backfill', lateByMs: null, reason: 'backfill' },
  ...Array.from({ length: 10 }, () => ({ outcome: 'ran' as const })),
  { outcome: 'running', tookMs: null },
  { outcome: 'waiting', lateByMs: null, tookMs: null, attempt: 0 },
  ...Array.from({ length: 6 }, () => ({
    outcome: 'ahead' as const,
    runId: null,
    lateByMs: null,
    tookMs: null,
    attempt: 0,
  })),
];

export function timeline(): TimelineJson {
  const first = -(OUTCOMES.length - 7) * HOUR;
  const items = OUTCOMES.map((words, n): TimelineItemJson => {
    const scheduledAt = at(first + n * HOUR);
    const known = {
      until: null,
      count: 1,
      outcome: 'ran' as const,
      reason: null,
      runId: `${CRON}@${Date.parse(scheduledAt)}`,
      asked: null,
    };
    return { scheduledAt, ...known, lateByMs: 120 + n * 37, tookMs: 2_000 + n * 410, attempt: 1, ...words };
  });
  return { cron: CRON, from: at(first), to: at(7 * HOUR), now: at(0), items, more: null, forgotten: null };
}

export function why(instant: string): WhyReportJson {
  const step = (topic: WhyReportJson['steps'][number]['topic'], text: string) => ({
    topic,
    at: null,
    level: 'ok' as const,
    text,
  });
  return {
    ...{ cron: CRON, at: instant, verdict: 'uncertain' },
    answer: 'It was accepted and begun, its worker is gone, and nobody knows whether send-mail has happened.',
    steps: [
      step('schedule', '"0 * * * *" in Europe/Berlin has this instant.'),
      step('lease', 'scheduler-1/a1b2c3 held the cron under fence 1763607590001.'),
      { ...step('claim', 'It was accepted 100 ms after it was due.'), at: at(0.1) },
      {
        ...step('fence', 'A write of attempt 1 was refused: attempt 2 had a larger fence.'),
        level: 'warn',
        at: at(30),
      },
      { ...step('effect', 'send-mail was begun and never ended.'), level: 'bad', at: at(2) },
    ],
    run: REPORT,
    neighbours: { before: at(-HOUR), after: at(HOUR) },
  };
}
