import { randomUUID } from 'node:crypto';
import { type Job } from 'bullmq';
import { afterEach, describe, expect, it } from 'vitest';
import { parseFence, systemClock } from '@fencepost/lease';
import { closeRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { RunProcessor } from './run.processor.js';
import type { RunHandler } from './run-context.js';
import type { RunJobData } from '../queue/run-queues.js';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { FORMER_QUEUE } from '../queue/routing.js';

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const CRON = 'nightly-report';
const AT = Date.UTC(2026, 0, 1);

/** A worker that runs `handle`, over a ledger and a queue of its own. */
async function worker(handle: RunHandler, retry = { attempts: 2, delayMs: 200, maxDelayMs: 200 }) {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const ledger = new RedisLedger({ redis, ...space });
  const runs = new BullmqRunQueue({ redis, ...space, onTrouble: () => {} });
  const own = redis.duplicate({ maxRetriesPerRequest: null });
  const telemetry = new Telemetry();
  const events = recordedEvents(telemetry);
  const processor = new RunProcessor({
    ...{ redis: own, ...space, concurrency: 4, clock: systemClock, telemetry },
    attempts: {
      ...{ ledger, clock: systemClock, telemetry, random: () => 1 - Number.EPSILON, worker: 'worker/1', ttlMs: 5_000 },
      handlerOf: (cron) => (cron === CRON ? { handle, retry } : undefined),
    },
  });
  await processor.start();
  closing.push(async () => {
    await runs.close();
    await closeRedis(own);
  });
  const stop = async (deadlineMs = 5_000) => {
    const index = closing.indexOf(stop);
    if (index >= 0) closing.splice(index, 1);
    await processor.stop(deadlineMs);
  };
  closing.push(stop);
  return { space, ledger, runs, events, stop };
}

type Set = Awaited<ReturnType<typeof worker>>;

/** Claims, enqueues and confirms the n-th occurrence, as a scheduler pod does. */
async function enqueue({ ledger, runs }: Set, n = 0, { cron = CRON } = {}): Promise<string> {
  const scheduledAt = AT + n * 1_000;
  const occurrence = { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null } as const;
  const { cursor } = await ledger.readCron(cron);
  const reply = await ledger.claim({
    ...{ cron, fence: parseFence('1'), term: 't', holder: 's/1', generation: 1, nonce: randomUUID() },
    ...{ cursor, skips: [], occurrence, overlap: 'allow' },
  });
  if (reply.verdict !== 'claimed') throw new Error(`Expected a claim, got ${reply.verdict}.`);
  await runs.enqueue([{ runId: reply.runId, delivery: 1 }]);
  await ledger.confirm([reply.runId]);
  return reply.runId;
}

async function jobOf({ runs }: Set, runId: string): Promise<Job<RunJobData>> {
  const job = await runs.queues.named(FORMER_QUEUE).getJob(runId);
  if (!job) throw new Error(`Expected a job ${runId}.`);
  return job;
}

const jobState = async (set: Set, runId: string) => (await jobOf(set, runId)).getState();

function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

describe('the processor', () => {
  it('carries a run out and completes its job: the ledger first', async () => {
    const states: unknown[] = [];
    const set = await worker(() => {});
    const runId = await enqueue(set);
    await expect.poll(() => jobState(set, runId)).toBe('completed');
    states.push((await set.ledger.readRun(runId))?.state);
    expect(states).toEqual(['succeeded']);
    expect(set.events.names.filter((name) => name.startsWith('attempt'))).toEqual([
      'attempt.begun',
      'attempt.succeeded',
    ]);
  });

  it('tries a run again with the same job, delayed, and writes a line for each attempt', async () => {
    const set = await worker(({ attempt, log }) => {
      if (attempt === 1) throw new Error('not yet');
      log.info('done');
    });
    const runId = await enqueue(set);
    await expect.poll(() => jobState(set, runId), { interval: 5 }).toBe('delayed');
    await expect.poll(() => jobState(set, runId)).toBe('completed');
    expect(await set.ledger.readRun(runId)).toMatchObject({ state: 'succeeded', attempt: 2, delivery: 1 });
    const { logs } = await set.runs.queues.named(FORMER_QUEUE).getJobLogs(runId);
    const line = (level: string, attempt: number, message: string) =>
      new RegExp(
        String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ${level} \[attempt ${attempt} · fence \d{16}\] ${message}`,
      );
    expect(logs).toEqual([
      expect.stringMatching(line('error', 1, 'Error: not yet; next attempt in 200 ms\\n +at ')),
      expect.stringMatching(line('info', 2, 'done$')),
    ]);
  });

  it('fails the job with the error of the last attempt', async () => {
    const set = await worker(() => Promise.reject(new TypeError('broken')), { attempts: 1, delayMs: 0, maxDelayMs: 0 });
    const runId = await enqueue(set);
    await expect.poll(() => jobState(set, runId)).toBe('failed');
    expect((await jobOf(set, runId)).failedReason).toBe('broken');
    expect(await set.ledger.readRun(runId)).toMatchObject({ state: 'failed', error: 'TypeError: broken' });
  });

  it('puts a run of a cron it does not know back for another worker', async () => {
    const set = await worker(() => {});
    const runId = await enqueue(set, 0, { cron: 'other' });
    await expect.poll(() => jobState(set, runId)).toBe('delayed');
    expect(set.events.of('attempt.unhandled')).toEqual([{ cron: 'other', runId }]);
    expect(await set.ledger.readRun(runId)).toMatchObject({ state: 'enqueued', waiting: 'no-capable-worker' });
  });

  it('shows the progress of a run with its job', async () => {
    const set = await worker(async ({ progress }) => {
      await progress({ rows: 7 });
    });
    const runId = await enqueue(set);
    await expect.poll(() => jobState(set, runId)).toBe('completed');
    expect((await jobOf(set, runId)).progress).toEqual({ rows: 7 });
  });
});

describe('a processor that stops', () => {
  it('waits for the runs under way and takes no further one', async () => {
    const { passed, open } = gate();
    const set = await worker(() => passed);
    const first = await enqueue(set, 0);
    await expect.poll(() => set.events.of('attempt.begun')).toHaveLength(1);
    const stopped = set.stop();
    const second = await enqueue(set, 1);
    open();
    await stopped;
    expect(await jobState(set, first)).toBe('completed');
    expect((await set.ledger.readRun(second))?.attempt).toBe(0);
    expect(['waiting', 'delayed']).toContain(await jobState(set, second));
    expect(set.events.of('attempt.aborted')).toEqual([]);
  });

  it('aborts at the deadline, and a handler that listens leaves its run to another worker', async () => {
    let reason: unknown;
    const set = await worker(({ signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason);
        });
      });
    });
    const runId = await enqueue(set);
    await expect.poll(() => set.events.of('attempt.begun')).toHaveLength(1);
    await set.stop(100);
    expect(reason).toMatchObject({ code: 'SHUTDOWN' });
    expect(await set.ledger.readRun(runId)).toMatchObject({ state: 'enqueued', attempt: 1 });
    expect(await jobState(set, runId)).toBe('delayed');
  });
});
