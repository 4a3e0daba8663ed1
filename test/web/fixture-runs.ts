import type { Answers } from '@fencepost/client';
import type { presentRun, presentRunReport } from '@fencepost/operations/presenting';

type RunJson = ReturnType<typeof presentRun>;
type RunPageJson = Answers['RunPage'];
type RunReportJson = ReturnType<typeof presentRunReport>;

export const CRON = 'nightly-report';
export const LOST_RUN = `${CRON}@1763607600000`;

const HOUR_MS = 3_600_000;
/** The hour that has begun: what is ahead in the story is ahead for the page as well. */
const T0 = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;

/** `seconds` after the start of the story that the fixtures tell. */
export function at(seconds: number): string {
  return new Date(T0 + seconds * 1_000).toISOString();
}

export function run(words: Partial<RunJson> = {}): RunJson {
  return {
    ...{ id: `${CRON}@${T0}`, cron: CRON, scheduledAt: at(0), dueAt: at(0), state: 'succeeded', reason: 'schedule' },
    ...{ skipped: null, missed: null, generation: 2, claimFence: '1763607590001', claimedBy: 'scheduler-1/a1b2c3' },
    ...{ claimedAt: at(0.1), enqueuedAt: at(0.2), delivery: 1, attempt: 1, fence: '1763607590007' },
    ...{ worker: 'worker-1/d4e5f6', startedAt: at(0.4), attemptedAt: at(0.4), notBefore: null, finishedAt: at(12) },
    ...{
      lateByMs: 400,
      tookMs: 11_600,
      error: null,
      result: null,
      by: null,
      payload: { month: '2026-11' },
      handler: null,
    },
    ...{ waiting: null, priority: null, unresolvedEffect: null, cancel: null },
    ...words,
  };
}

const unresolvedEffect = { effect: 'send-mail', item: null, unknownReason: 'lost' as const, since: at(2) };

export const UNCERTAIN = run({
  ...{
    id: LOST_RUN,
    state: 'uncertain',
    finishedAt: null,
    tookMs: null,
    attempt: 2,
    attemptedAt: at(30),
    unresolvedEffect,
  },
  error:
    'EffectUnresolvedError: The outcome of the effect "send-mail" is unknown: its worker died before it recorded an outcome. The run waits until an operator resolves it.',
});

export const FAILED = run({
  ...{ id: `${CRON}@${T0 - 86_400_000}`, scheduledAt: at(-86_400), dueAt: at(-86_400), state: 'failed', attempt: 3 },
  ...{ claimedAt: at(-86_399.988), enqueuedAt: at(-86_399.98), startedAt: at(-86_380), attemptedAt: at(-86_340) },
  ...{ finishedAt: at(-86_337.65), lateByMs: 20_000, tookMs: 42_350 },
  error: 'The report service answered 503 to each of three attempts, the last time after 30 seconds.',
});

const effect = { unknown: false, finishedAt: at(1.9), fence: '1763607590007', error: null, payloadHash: null };

export const REPORT: RunReportJson = {
  run: UNCERTAIN,
  effects: [
    { ...effect, name: 'render', state: 'done', since: at(1), result: { pages: 12, file: 'report-2026-11.pdf' } },
    { ...effect, name: 'send-mail', state: 'begun', since: at(2), finishedAt: null, unknown: true, result: null },
  ],
  items: {
    customers: {
      ...{ done: 4_120, failed: 1, begun: 1 },
      open: [
        { key: 'customer-7', state: 'failed', error: 'mailbox is full', since: at(3) },
        { key: 'customer-9', state: 'begun', error: null, since: at(4) },
      ],
    },
  },
  unresolvedEffect: {
    ...unresolvedEffect,
    idempotencyKey: `${LOST_RUN}/send-mail`,
    why: `The effect "send-mail" was begun at ${at(2)}, but its worker died: it may or may not have happened.`,
    advice: `Search the system it changes for the idempotency key "${LOST_RUN}/send-mail". If it happened, answer "done".`,
  },
};

const STACK = [
  'Error: The report service answered 503; next attempt in 18000 ms',
  '    at ReportClient.fetch (file:///app/report-client.js:41:13)',
  'Caused by: Error: connect ECONNREFUSED 10.0.0.9:443',
  '    at TCPConnectWrap.afterConnect (node:net:1637:16)',
].join('\n');

const attempt = { worker: 'worker-1/d4e5f6', fence: '1763607590005', why: null, stack: null, refusals: [] };

/** The attempts of the run that asks: the first one was refused, as the journal has it. */
export const LOST_PAGE: Pick<RunPageJson, 'attempts' | 'neighbours'> = {
  attempts: [
    {
      ...{ ...attempt, number: 2, first: 2, beganAt: at(30), endedAt: at(31.25), tookMs: 1_250, end: 'uncertain' },
      ...{ worker: 'worker-2/e7f8a9', fence: '1763607590007', why: 'send-mail' },
    },
    {
      ...{ ...attempt, number: 1, first: 1, beganAt: at(0.4), endedAt: null, tookMs: null, end: 'refused' },
      refusals: ['5-0'],
    },
  ],
  neighbours: { previous: `${CRON}@${T0 - 86_400_000}`, next: null, previousSuccess: `${CRON}@${T0 - 172_800_000}` },
};

/** The page of the run that failed for good after three attempts. */
export const FAILED_PAGE: Pick<RunPageJson, 'attempts' | 'neighbours'> = {
  attempts: [3, 2, 1].map((number) => ({
    ...{ ...attempt, number, first: number, end: 'failed' as const, why: FAILED.error, stack: STACK, tookMs: 2_345 },
    ...{ beganAt: at(-86_400 + number * 20), endedAt: at(-86_400 + number * 20 + 2.345) },
  })),
  neighbours: {
    previous: `${CRON}@${T0 - 172_800_000}`,
    next: LOST_RUN,
    previousSuccess: `${CRON}@${T0 - 172_800_000}`,
  },
};

/** The run of two days ago, which succeeded. */
export const SUCCESS = run({
  id: `${CRON}@${T0 - 172_800_000}`,
  payload: { month: '2026-10' },
  result: { sent: 3 },
});

export const FAILURES: Answers['Failures']['items'] = [
  {
    ...{
      fingerprint: '00112233445566aa',
      error: FAILED.error ?? '',
      count: 3,
      complete: true,
      crons: [CRON, 'cache-warm'],
    },
    ...{ firstAt: at(-86_400), lastAt: at(-3_600), runIds: [FAILED.id, `${CRON}@1`, `${CRON}@2`] },
  },
  {
    ...{
      fingerprint: 'aabbccddeeff0011',
      error: 'TypeError: rows is undefined',
      count: 1,
      complete: true,
      crons: ['invoice-collect'],
    },
    ...{ firstAt: at(-7_200), lastAt: at(-7_200), runIds: ['invoice-collect@1'] },
  },
];
