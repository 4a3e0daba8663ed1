import { afterEach, describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, START, type StageOptions } from '../support/scheduler-stage.js';
import type { OverlapPolicy } from '../../libs/ledger/src/base/run.js';

const at = (second: number) => START + second * 1_000;
const RUN = `${CRON}@${at(1)}`;
/** From the first instant that is blocked to the next delivery. */
const BOUND_MS = 2_000;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A pod that holds a cron of each second, whose first run has been enqueued. */
async function firing(overlap: OverlapPolicy, options: StageOptions = {}) {
  const stage = new SchedulerStage(options);
  const { engine, events } = stage.pod();
  engine.hold([{ ...stage.heldCron(1, stage.scheduled({ overlap })), known: false }]);
  stops.push(async () => {
    await engine.stop();
    expect(stage.clock.pending).toBe(0);
  });
  await stage.clock.advance(1_000);
  expect(stage.memoryQueue.taken).toMatchObject([{ runId: RUN }]);
  const deliveries = () => stage.memoryQueue.taken.filter(({ runId }) => runId === RUN).map(({ delivery }) => delivery);
  /** As an idle worker would, had it the job. */
  const begin = () =>
    stage.memoryLedger.begin({ runId: RUN, nonce: 'n', worker: 'w/1', ttlMs: 60_000, maxAttempts: 3 });
  return { stage, engine, events, deliveries, begin };
}

describe('a run that blocks its successor and that no worker has begun', () => {
  it.each(['skip', 'queue-all'] as const)(
    'is delivered again within 2 s of its first blocked successor when the queue has lost its job (overlap "%s")',
    async (overlap) => {
      const { stage, deliveries, events } = await firing(overlap);
      stage.memoryQueue.wipe();
      await stage.clock.advance(1_000 + BOUND_MS);
      expect(deliveries()).toEqual([1, 2]);
      expect(events.of('run.redelivered').find(({ runId }) => runId === RUN)).toMatchObject({ was: 'enqueued' });
    },
  );

  it('is delivered again within 2 s when the worker that has its job is gone', async () => {
    const { stage, deliveries } = await firing('skip', { work: () => new Promise(() => {}) });
    await stage.clock.advance(1_000 + BOUND_MS);
    expect(deliveries()).toEqual([1, 2]);
  });

  it('is left alone while its job waits in the queue, however many successors it blocks', async () => {
    const { stage, deliveries } = await firing('skip');
    await stage.clock.advance(20_000);
    expect(deliveries()).toEqual([1]);
  });

  it('is left alone once a worker has begun it', async () => {
    const { stage, deliveries, begin } = await firing('skip');
    expect(await begin()).toMatchObject({ verdict: 'begun' });
    stage.memoryQueue.wipe();
    await stage.clock.advance(20_000);
    expect(deliveries()).toEqual([1]);
    expect(stage.queue.calls).not.toContain('holds');
  });

  it('is found although the ledger does not answer the first look', async () => {
    const { stage, deliveries, events } = await firing('skip');
    stage.memoryQueue.wipe();
    stage.ledger.next('unstarted', 'fail');
    await stage.clock.advance(1_000 + 2 * BOUND_MS);
    expect(deliveries()).toEqual([1, 2]);
    expect(events.of('store.failed')).toMatchObject([{ operation: 'cron.unblock', cron: CRON }]);
  });
});

describe('what this costs', () => {
  it('asks nothing about a cron that is not blocked', async () => {
    const { stage } = await firing('allow');
    await stage.clock.advance(20_000);
    expect(stage.ledger.calls).not.toContain('unstarted');
  });

  it('asks about a blocked cron once a second, and not any more once it is held by another pod', async () => {
    const { stage, engine } = await firing('skip');
    const asked = () => stage.ledger.calls.filter((call) => call === 'unstarted').length;
    await stage.clock.advance(10_000);
    expect(asked()).toBeGreaterThanOrEqual(8);
    expect(asked()).toBeLessThanOrEqual(11);
    await engine.letGo([engine.held(CRON)!]);
    const before = asked();
    await stage.clock.advance(10_000);
    expect(asked()).toBe(before);
  });
});
