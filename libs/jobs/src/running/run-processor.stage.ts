import { randomUUID } from 'node:crypto';
import { parseFence, systemClock } from '@fencepost/lease';
import { closeRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import type { Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterEach } from 'vitest';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { FORMER_QUEUE } from '../queue/routing.js';
import type { RunJobData } from '../queue/run-queues.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { CronHandler } from './delivery.js';
import { RunProcessor } from './run.processor.js';
import type { RunHandler } from './run-context.js';

export const CRON = 'nightly-report';
const AT = Date.UTC(2026, 0, 1);

export interface WorkerSettings extends Partial<Omit<CronHandler, 'handle'>> {
  readonly concurrency?: number;
  /** Whether runs may begin with their jobs. */
  readonly beginsAhead?: boolean;
  readonly notifyOf?: (cron: string) => string;
  /** Where the worker connects to; default: as the rest. */
  readonly url?: string;
}

const RETRY = { attempts: 2, delayMs: 200, maxDelayMs: 200 };

/** To be called by each spec file: what makes workers that run `handle`, each over a ledger and a queue of its own. */
export function useWorkers() {
  const spaces = redisSpaces();
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  return (handle: RunHandler, settings: WorkerSettings = {}) => openWorker({ spaces, closing }, handle, settings);
}

interface Around {
  readonly spaces: ReturnType<typeof redisSpaces>;
  readonly closing: (() => Promise<unknown>)[];
}

async function openWorker({ spaces, closing }: Around, handle: RunHandler, settings: WorkerSettings) {
  const { concurrency = 4, beginsAhead = true, notifyOf, url, retry = RETRY, ...others } = settings;
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const ledger = new RedisLedger({ redis, ...space });
  const runs = new BullmqRunQueue({ redis, ...space, onTrouble: () => {} });
  const address = url === undefined ? {} : { host: new URL(url).hostname, port: Number(new URL(url).port) };
  const own: Redis = redis.duplicate({ ...address, maxRetriesPerRequest: null });
  own.on('error', () => {});
  const telemetry = new Telemetry();
  const events = recordedEvents(telemetry);
  const handler = { handle, retry, ...others };
  const processor = new RunProcessor({
    ...space,
    redis: own,
    concurrency,
    clock: systemClock,
    telemetry,
    handlers: () => (beginsAhead ? [CRON] : []),
    attempts: {
      ledger,
      clock: systemClock,
      telemetry,
      random: () => 1 - Number.EPSILON,
      worker: 'worker/1',
      ttlMs: 5_000,
      handlerOf: (cron) => (cron === CRON ? handler : undefined),
      ...(notifyOf && { notifyOf }),
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
  return { redis, own, space, ledger, runs, events, stop, plan: () => processor.plan(), processor };
}

export type Working = Awaited<ReturnType<typeof openWorker>>;

/** Claims, enqueues and confirms the n-th occurrence, as a scheduler pod does. */
export async function enqueue({ ledger, runs }: Working, n = 0, { cron = CRON } = {}): Promise<string> {
  const scheduledAt = AT + n * 1_000;
  const occurrence = { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null } as const;
  const { cursor } = await ledger.readCron(cron);
  const reply = await ledger.claim({
    cron,
    fence: parseFence('1'),
    term: 't',
    holder: 's/1',
    generation: 1,
    nonce: randomUUID(),
    cursor,
    skips: [],
    occurrence,
    overlap: 'allow',
  });
  if (reply.verdict !== 'claimed') throw new Error(`Expected a claim, got ${reply.verdict}.`);
  await runs.enqueue([{ runId: reply.runId, delivery: 1 }]);
  await ledger.confirm([reply.runId]);
  return reply.runId;
}

export async function jobOf({ runs }: Working, runId: string): Promise<Job<RunJobData>> {
  const job = await runs.queues.named(FORMER_QUEUE).getJob(runId);
  if (!job) throw new Error(`Expected a job ${runId}.`);
  return job;
}

export const jobState = async (working: Working, runId: string) => (await jobOf(working, runId)).getState();

export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}
