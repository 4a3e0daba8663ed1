import { randomUUID } from 'node:crypto';
import { Leases, systemClock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { closeRedis, RedisLeaseStore } from '@fencepost/lease/redis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CatalogEntry } from '../../libs/ledger/src/catalog/definition.js';
import { RedisCatalog } from '../../libs/ledger/src/redis/redis-catalog.js';
import { RedisLedger } from '@fencepost/ledger/redis';
import { RunProcessor } from '../../libs/jobs/src/running/run.processor.js';
import { BullmqRunQueue } from '../../libs/jobs/src/queue/bullmq-run-queue.js';
import { Dispatcher } from '../../libs/jobs/src/scheduling/dispatcher.js';
import { DuePublisher } from '../../libs/jobs/src/scheduling/due-publisher.js';
import { Engine } from '../../libs/jobs/src/scheduling/engine.js';
import { holdCron } from '../../libs/jobs/src/scheduling/held-cron.js';
import { POD_TIMING } from '../../libs/jobs/src/membership/pod-timing.js';
import { Recovery } from '../../libs/jobs/src/scheduling/recovery.js';
import { RedisMembership } from '../../libs/jobs/src/membership/redis-membership.js';
import { SchedulerPod } from '../../libs/jobs/src/scheduling/scheduler-pod.js';
import { Schedules } from '../../libs/jobs/src/schedules/schedules.js';
import { Telemetry } from '../../libs/jobs/src/telemetry/telemetry.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { framesToWire, ownFrames, pathRecorder } from './path-recorder.js';
import { leaseOf } from '../support/planning-stage.js';
import { recordedEvents } from '../support/recorded.js';

/** Between the function that decides and the one that sends. */
const MAX_FRAMES = 4;

/** From what wants a lease to what has it, see the last suite. */
const MAX_HOPS = 12;
/** Of many crons at once: a session for all of them, and batches, are hops of their own. */
const MAX_BATCH_HOPS = 19;

/** Of jobs and ledger; what they stand on (leases, schedules, telemetry) is not counted. A run ends and begins with its job: three of them. */
const MAX_FILES = 25;
/** From the timer to the confirmation: the queue of a run is chosen by the workers that are live, which are read from their registry. */
const MAX_SCHEDULER_FILES = 24;

const CRON = 'tick';
const spaces = redisSpaces();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function stores() {
  const [redis, space, telemetry] = [
    spaces.redis().duplicate({ maxRetriesPerRequest: null }),
    spaces.fresh(),
    new Telemetry(),
  ];
  closing.push(() => closeRedis(redis));
  const ledger = new RedisLedger({ redis, ...space });
  const queue = new BullmqRunQueue({ redis, ...space, onTrouble: () => {} });
  closing.push(() => queue.close());
  const recorder = await pathRecorder(redis);
  closing.push(() => recorder.stop());
  return { redis, space, telemetry, events: recordedEvents(telemetry), ledger, queue, recorder, clock: systemClock };
}

type Stores = Awaited<ReturnType<typeof stores>>;

function everySecond(): CatalogEntry {
  const policy = { misfire: 'fire-once', overlap: 'allow', graceMs: 60_000, catchUpWindowMs: null } as const;
  const definition = { name: CRON, expression: '* * * * * *', timeZone: 'UTC', ...policy };
  const since = Date.now() - 5_000;
  return { definition, generation: 1, since, state: 'active', past: [], readAt: since } as unknown as CatalogEntry;
}

function engineOver({ redis, space, telemetry, ledger, queue, clock }: Stores): Engine {
  const schedules = new Schedules({ clock, telemetry });
  const dispatcher = new Dispatcher({
    ledger,
    queue,
    clock,
    telemetry,
    schedules,
    freshness: {
      get knownAt() {
        return clock.now();
      },
    },
  });
  const recovery = new Recovery({ ledger, queue, dispatcher, telemetry, lookAgainMs: 60_000, keepRuns: 100 });
  const duePublisher = new DuePublisher({ membership: new RedisMembership({ redis, ...space }), telemetry });
  const deps = {
    ledger,
    dispatcher,
    recovery,
    duePublisher,
    clock,
    telemetry,
    random: Math.random,
    sweepEveryMs: 60_000,
    timing: POD_TIMING,
  };
  const engine = new Engine({
    ...deps,
    owner: { cronDropped: () => {}, sliceBegins: () => {}, claimMet: () => {}, cursorRead: () => {} },
  });
  closing.push(() => engine.stop());
  return engine;
}

async function triggered({ ledger, queue }: Stores): Promise<void> {
  const runId = `${CRON}@manual-${randomUUID()}`;
  await ledger.trigger({
    ...{ runId, nonce: randomUUID(), scheduledAt: null, reason: 'manual', generation: 1, by: 'ada' },
    ...{ payload: null, handler: null, missed: null, overlap: 'allow' },
  });
  await queue.enqueue([{ runId, delivery: 1 }]);
}

/** Waits for the n-th event of a name. Asked of the telemetry, because a look at the ledger would be on the path. */
async function nth({ events }: Stores, name: 'run.confirmed' | 'attempt.succeeded', n: number): Promise<void> {
  await expect.poll(() => events.of(name).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(n);
}

describe('the path of one occurrence', () => {
  it('is short from the timer of a scheduler to its confirmation', async () => {
    const set = await stores();
    engineOver(set).hold([holdCron(everySecond(), leaseOf(CRON, 1))]);
    await nth(set, 'run.confirmed', 2);
    await set.recorder.files();
    await nth(set, 'run.confirmed', 3);
    const files = await set.recorder.files();
    expect(framesToWire(set.recorder.stacks['enqueue-claimed'], '.dispatch').length).toBeLessThanOrEqual(MAX_FRAMES);
    expect(files).toContain('libs/jobs/src/scheduling/dispatcher.ts');
    expect(files.length).toBeLessThanOrEqual(MAX_SCHEDULER_FILES);
  }, 30_000);

  it('is short from a delivery to its completion, with one effect', async () => {
    const set = await stores();
    const processor = new RunProcessor({
      ...{ redis: set.redis, ...set.space, concurrency: 1, clock: set.clock, telemetry: set.telemetry },
      attempts: {
        ...{ ledger: set.ledger, clock: set.clock, telemetry: set.telemetry, random: () => 0.5 },
        ...{ worker: 'worker/1', ttlMs: 5_000 },
        handlerOf: () => ({
          handle: async (run) => void (await run.effect('pay', async () => 'paid')),
          retry: { attempts: 2, delayMs: 200, maxDelayMs: 200 },
        }),
      },
    });
    await processor.start();
    closing.push(() => processor.stop(1_000));
    await triggered(set);
    await nth(set, 'attempt.succeeded', 1);
    await set.recorder.files();
    await triggered(set);
    await set.recorder.files();
    await nth(set, 'attempt.succeeded', 2);
    const files = await set.recorder.files();
    expect(framesToWire(set.recorder.stacks['begin-attempts'], 'beginRun').length).toBeLessThanOrEqual(MAX_FRAMES);
    expect(framesToWire(set.recorder.stacks['begin-effect'], 'EffectCall.execute').length).toBeLessThanOrEqual(
      MAX_FRAMES,
    );
    expect(files).toContain('libs/jobs/src/running/run.processor.ts');
    expect(files.length).toBeLessThanOrEqual(MAX_FILES);
  }, 30_000);
});

/** The functions of ours that are under way when a method is called for the first time. */
function framesOf<M extends string>(target: Record<M, (...args: never[]) => unknown>, method: M): () => string[] {
  const call = target[method].bind(target) as (...args: unknown[]) => unknown;
  const stacks: string[][] = [];
  vi.spyOn(target as Record<string, typeof call>, method).mockImplementation((...args) => {
    stacks.push(ownFrames());
    return call(...args);
  });
  return () => stacks[0] ?? [];
}

function hopsOf(...stacks: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(stacks.flatMap((stack) => stack ?? []))];
}

/**
 * A hop is a function of ours that is under way between the one that wants the lease and the script that takes it, or between
 * the script's reply and the one that acts under the lease; the last one counts, the first does not.
 */
describe('the path of one lease', () => {
  it('is short from the assignment that wants it to the engine that fires its cron', async () => {
    const { redis, space, telemetry, ledger, queue, clock } = await stores();
    const recorder = await pathRecorder(redis);
    closing.push(() => recorder.stop());
    const at = { redis, ...space };
    const [catalog, leases] = [new RedisCatalog(at), new RedisLeaseStore({ ...at, kind: 'cron' })];
    const pod = new SchedulerPod({
      ...{ ledger, queue, catalog, leases, clock, telemetry, membership: new RedisMembership(at) },
      ...{ keeper: new LeaseKeeper({ store: leases }), random: () => 0 },
      ...{ ttlMs: 10_000, sweepEveryMs: 60_000, lookAgainMs: 60_000, keepRuns: 100 },
    });
    const [wanting, reading, holding] = [
      framesOf(pod.acquirer, 'want'),
      framesOf(ledger, 'readCrons'),
      framesOf(pod.engine, 'hold'),
    ];
    await catalog.declare([{ definition: everySecond().definition, disabled: false }], { revision: 1, app: 'test' });
    await pod.start();
    closing.push(() => pod.stop());
    await expect.poll(() => pod.engine.size).toBe(1);
    const wanted = wanting().slice(
      0,
      wanting().findIndex((frame) => frame.endsWith('Assignment.assign')),
    );
    const hops = hopsOf(wanted, ['want'], reading(), recorder.stacks['acquire-session-leases'], holding(), ['hold']);
    expect(hops).toContain('LeaseKeeper.tryAcquireMany');
    expect(hops.length, hops.join(', ')).toBeLessThanOrEqual(MAX_BATCH_HOPS);
  }, 30_000);

  it('is short from `acquire` to the script, for a lease of the application', async () => {
    const { redis, space } = await stores();
    const recorder = await pathRecorder(redis);
    closing.push(() => recorder.stop());
    const leases = new Leases({ store: new RedisLeaseStore({ redis, ...space }) });
    closing.push(() => leases.close());
    await leases.acquire('report');
    const stack = recorder.stacks['acquire-lease'] ?? [];
    const hops = hopsOf(
      stack.slice(
        0,
        stack.findIndex((frame) => frame.endsWith('Leases.acquire')),
      ),
    );
    expect(hops).toContain('LeaseKeeper.tryAcquire');
    expect(hops.length, hops.join(', ')).toBeLessThanOrEqual(MAX_HOPS);
  }, 30_000);
});
