import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@fencepost/lease';
import { closeRedis } from '@fencepost/lease/redis';
import { afterEach, describe, expect, it } from 'vitest';
import type { CatalogEntry } from '../../libs/ledger/src/catalog/definition.js';
import { RedisLedger } from '../../libs/ledger/src/redis/redis-ledger.js';
import { RunProcessor } from '../../libs/jobs/src/running/run.processor.js';
import { BullmqRunQueue } from '../../libs/jobs/src/queue/bullmq-run-queue.js';
import { Dispatcher } from '../../libs/jobs/src/scheduling/dispatcher.js';
import { DuePublisher } from '../../libs/jobs/src/scheduling/due-publisher.js';
import { Engine } from '../../libs/jobs/src/scheduling/engine.js';
import { holdCron } from '../../libs/jobs/src/scheduling/held-cron.js';
import { POD_TIMING } from '../../libs/jobs/src/membership/pod-timing.js';
import { Recovery } from '../../libs/jobs/src/scheduling/recovery.js';
import { RedisMembership } from '../../libs/jobs/src/membership/redis-membership.js';
import { Schedules } from '../../libs/jobs/src/schedules/schedules.js';
import { Telemetry } from '../../libs/jobs/src/telemetry/telemetry.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { framesToWire, pathRecorder } from '../support/path-recorder.js';
import { leaseOf } from '../support/planning-stage.js';
import { recordedEvents } from '../support/recorded-events.js';

/** Between the function that decides and the one that sends. */
const MAX_FRAMES = 4;

/** Of jobs and ledger; what they stand on (leases, schedules, telemetry) is not counted. */
const MAX_FILES = 18;

const CRON = 'tick';
const ledgerScripts = fileURLToPath(new URL('../../libs/ledger/src/redis/lua/', import.meta.url));
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
  const queue = new BullmqRunQueue({ redis: spaces.redis(), ...space, onTrouble: () => {} });
  closing.push(() => queue.close());
  const recorder = await pathRecorder(redis, ledgerScripts);
  closing.push(() => recorder.stop());
  return { redis, space, telemetry, events: recordedEvents(telemetry), ledger, queue, recorder, clock: systemClock };
}

type Stores = Awaited<ReturnType<typeof stores>>;

function everySecond(): CatalogEntry {
  const policy = { misfire: 'fire-once', overlap: 'allow', graceMs: 60_000, catchUpWindowMs: null } as const;
  const definition = { name: CRON, expression: '* * * * * *', timeZone: 'UTC', ...policy };
  const since = Date.now() - 5_000;
  return { definition, generation: 1, since, state: 'firing', past: [], readAt: since } as unknown as CatalogEntry;
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
    sweepEveryMs: 60_000,
    timing: POD_TIMING,
  };
  const engine = new Engine({ ...deps, onDropped: () => {} });
  closing.push(() => engine.stop());
  return engine;
}

async function triggered({ ledger, queue }: Stores): Promise<void> {
  const runId = `${CRON}@manual-${randomUUID()}`;
  await ledger.trigger({
    ...{ runId, nonce: randomUUID(), scheduledAt: null, reason: 'manual', generation: 1, by: 'ada', why: null },
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
    expect(framesToWire(set.recorder.stacks['claim-occurrences'], '#claim').length).toBeLessThanOrEqual(MAX_FRAMES);
    expect(files).toContain('libs/jobs/src/scheduling/dispatcher.ts');
    expect(files.length).toBeLessThanOrEqual(MAX_FILES);
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
