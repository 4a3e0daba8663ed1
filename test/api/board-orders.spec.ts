import { Worker } from 'bullmq';
import { LEDGER } from '@fencepost/jobs';
import { POD_REGISTRY, RUN_QUEUE, type BullmqRunQueue, type PodRegistry } from '@fencepost/jobs/internal';
import type { AttemptLog, AttemptOutcome, RunHistory } from '@fencepost/ledger';
import { AUDIT_TRAIL, CronCatalog } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AccessRole } from '@fencepost/operations/access-tokens';
import { card } from '../contracts/pod-registry.contract.js';
import { testRedis } from '../support/redis.js';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

const CRON = 'on-demand';
const TOKEN = 'the test';

let running: RunningApp;
let ledger: AttemptLog & RunHistory;
let runs: BullmqRunQueue;

beforeEach(async () => {
  running = await startSchedulerApp();
  const { app } = running;
  [ledger, runs] = [app.get(LEDGER, { strict: false }), app.get(RUN_QUEUE, { strict: false })];
  const crons = app.get(CronCatalog, { strict: false });
  await crons.set(CRON, { expression: '@manual', overlap: 'allow', payload: { page: 7 } }, { by: 'test' });
});
afterEach(() => running.close());

interface Answered {
  readonly status: number;
  readonly text: string;
}

async function board(path: string, as: AccessRole = 'operator', body?: object): Promise<Answered> {
  const headers = { 'content-type': 'application/json' };
  const words = body && { body: JSON.stringify(body), headers };
  const response = await running.ask(`/queues/api/queues/runs/${path}`, { as, method: 'PUT', ...words });
  return { status: response.status, text: await response.text() };
}

async function get<Answer>(path: string): Promise<Answer> {
  const response = await running.ask(path);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

async function trail(): Promise<Awaited<ReturnType<AuditTrail['list']>>> {
  const records = await running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false }).list({ limit: 100 });
  return records.filter(({ action }) => action !== 'trigger' && action !== 'set');
}

async function triggered(): Promise<string> {
  const response = await running.order(`/api/crons/${CRON}/trigger`, { reason: 'a try', force: true });
  return ((await response.json()) as { runId: string }).runId;
}

/** A run that a worker has begun and ended so, by ledger and queue. */
async function ended(outcome: AttemptOutcome): Promise<string> {
  const runId = await triggered();
  const request = { runId, nonce: 'n', worker: 'worker/1', ttlMs: 60_000, maxAttempts: 3 };
  const begun = await ledger.begin(request);
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  const attempt = { runId, fence: begun.fence, nonce: request.nonce };
  await ledger.beginEffect(attempt, { name: 'print', ifUnknown: 'go' });
  await ledger.finishEffect(attempt, 'print', { kind: 'done', result: '"printed"' });
  await ledger.finish(attempt, outcome);
  const queue = runs.queues.named('runs');
  const worker = new Worker(queue.name, null, {
    connection: { url: testRedis(), maxRetriesPerRequest: null },
    prefix: queue.opts.prefix ?? '',
  });
  try {
    const job = await worker.getNextJob(TOKEN);
    expect(job?.id).toBe(runId);
    if (outcome.kind === 'succeeded') await job?.moveToCompleted(null, TOKEN, false);
    else if (outcome.kind === 'retry') await job?.moveToDelayed(Date.now() + outcome.delayMs, TOKEN);
    else await job?.moveToFailed(new Error(outcome.error), TOKEN, false);
  } finally {
    await worker.close();
  }
  return runId;
}

const FAILED: AttemptOutcome = { kind: 'failed', error: 'Error: out of paper' };
const pathOf = (runId: string) => encodeURIComponent(runId);

describe('Retry on the board', () => {
  it('makes a new run of a failed one, with one audit record', async () => {
    const runId = await ended(FAILED);
    expect(await board(`${pathOf(runId)}/retry`)).toMatchObject({ status: 204 });
    expect(await ledger.readRun(`${runId}-r1`)).toMatchObject({ state: 'enqueued', by: 'otto', payload: '{"page":7}' });
    expect((await ledger.readRun(runId))?.state).toBe('failed');
    expect(await runs.holds([{ runId: `${runId}-r1`, delivery: 1 }])).toEqual(['waiting']);
    const record = { action: 'retry', by: 'otto', role: 'operator', from: 'queues 127.0.0.1', cron: CRON, runId };
    const before = { state: 'failed', attempt: 1 };
    expect(await trail()).toEqual([expect.objectContaining({ ...record, before, reason: 'asked for on the board' })]);
  });

  it('names the run that a former retry has made', async () => {
    const runId = await ended(FAILED);
    await board(`${pathOf(runId)}/retry`);
    const { status, text } = await board(`${pathOf(runId)}/retry`);
    expect([status, text]).toEqual([409, expect.stringContaining(`-r1\\", which is enqueued`)]);
    expect(await trail()).toHaveLength(1);
  });

  it('says of a succeeded run that its cron can be triggered, and is not offered for it', async () => {
    const runId = await ended({ kind: 'succeeded' });
    const { status, text } = await board(`${pathOf(runId)}/retry`);
    expect([status, text]).toEqual([409, expect.stringContaining('To run it once more, trigger its cron.')]);
    const { queues } = await get<{ queues: object[] }>('/queues/api/queues?activeQueue=runs');
    expect(queues).toMatchObject([{ allowRetries: true, allowCompletedRetries: false }]);
    expect(await trail()).toEqual([]);
  });

  it('is refused for all runs of a state at once, with the way to do it', async () => {
    await ended(FAILED);
    const { status, text } = await board('retry/failed', 'admin');
    expect([status, text]).toEqual([403, expect.stringContaining('together on the page Runs of the console')]);
  });
});

describe('a job on the board', () => {
  it('shows state, reason, payload and effects of its run', async () => {
    const runId = await ended(FAILED);
    const { job } = await get<{ job: object }>(`/queues/api/queues/runs/${pathOf(runId)}`);
    expect(job).toMatchObject({
      data: {
        ...{ runId, state: 'failed', reason: 'manual', by: 'otto', attempt: 1, error: 'Error: out of paper' },
        ...{ payload: { page: 7 }, effects: { print: 'done' } },
      },
      externalUrl: { displayText: 'Show the run', href: `../run/${pathOf(runId)}` },
    });
  });

  it('is not brought to a worker before its run may start', async () => {
    const runId = await ended({ kind: 'retry', error: 'Error: busy', delayMs: 3_600_000 });
    const { status, text } = await board(`${pathOf(runId)}/promote`);
    expect([status, text]).toEqual([409, expect.stringContaining('starts no earlier than')]);
    expect(await (await runs.jobOf(runId))?.getState()).toBe('delayed');
    expect(await trail()).toEqual([]);
  });

  it("is refused what BullMQ refuses in BullMQ's words", async () => {
    const runId = await ended(FAILED);
    expect(await board(`${pathOf(runId)}/promote`)).toEqual({
      status: 409,
      text: expect.stringMatching(/BullMQ refused it: Job .* is not in the delayed state/) as string,
    });
    expect(await trail()).toEqual([]);
  });
});

describe('what is set on the queue by way of the board', () => {
  interface Finding {
    readonly code: string;
    readonly level: string;
    readonly subject: string;
    readonly text: string;
  }

  const found = async () => {
    const { items } = await get<{ items: Finding[] }>('/api/doctor');
    return items.filter(({ subject }) => subject === 'queue runs');
  };

  it('is named by doctor and why, with its value and how to undo it', async () => {
    const worker = card('worker/1', { roles: ['worker'], handlers: [CRON] });
    await running.app.get<PodRegistry>(POD_REGISTRY, { strict: false }).report(worker);
    expect(await found()).toEqual([]);
    expect((await board('concurrency', 'admin', { concurrency: 1 })).status).toBe(200);
    expect((await board('rate-limit', 'admin', { max: 1, duration: 20_000 })).status).toBe(200);
    const runId = await triggered();
    expect(await found()).toMatchObject([
      { code: 'QUEUE_CONCURRENCY', level: 'warn', todo: expect.stringContaining('set the concurrency to 0') as string },
      { code: 'QUEUE_RATE_LIMIT', level: 'warn', todo: expect.stringContaining('clear the rate limit') as string },
    ]);
    const { scheduledAt = 0 } = (await ledger.readRun(runId)) ?? {};
    const at = encodeURIComponent(new Date(scheduledAt).toISOString());
    const { answer } = await get<{ answer: string }>(`/api/crons/${CRON}/why?at=${at}`);
    expect(answer).toContain('global concurrency of 1');
    expect(answer).toContain('rate limit of 1 run per 20 s');
    expect((await board('concurrency', 'admin', { concurrency: 0 })).status).toBe(200);
    expect((await board('rate-limit', 'admin', { max: null })).status).toBe(200);
    expect(await found()).toEqual([]);
  });

  it('is in the audit trail with what was set before', async () => {
    await board('concurrency', 'admin', { concurrency: 3 });
    await board('concurrency', 'admin', { concurrency: 5 });
    const [second] = await trail();
    expect(second).toMatchObject({
      ...{ action: 'queue-concurrency', by: 'anna' },
      before: { runs: { paused: false, concurrency: 3, rate: null } },
      after: { queue: 'runs', asked: { concurrency: 5 } },
    });
  });

  it('names the state whose jobs were cleaned', async () => {
    expect((await board('clean/completed', 'admin')).status).toBe(200);
    expect(await trail()).toEqual([
      expect.objectContaining({
        action: 'queue-clean',
        after: expect.objectContaining({ status: 'completed' }) as object,
      }),
    ]);
  });
});
