import { systemClock } from '@fencepost/lease';
import { RedisLedger } from '@fencepost/ledger/redis';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { leaseOf } from '../../../../test/support/planning-stage.js';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { definition } from '../../../../test/support/scheduler-stage.js';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { FORMER_QUEUE } from '../queue/routing.js';
import { Schedules } from '../schedules/schedules.js';
import type { EventName } from '../telemetry/events.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { Dispatcher } from './dispatcher.js';
import { holdCron } from './held-cron.js';

const spaces = redisSpaces();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const STEPS: readonly EventName[] = ['occurrence.claiming', 'occurrence.claimed', 'run.enqueued', 'run.confirmed'];

/** A cron that has been due for a few seconds, and the dispatcher of its holder. */
function stage({ inOneStep }: { readonly inOneStep: boolean }) {
  const [redis, space, telemetry, clock] = [spaces.redis(), spaces.fresh(), new Telemetry(), systemClock];
  const ledger = new RedisLedger({ redis, ...space });
  const queue = new BullmqRunQueue({ redis, ...space, onTrouble: () => {} });
  closing.push(() => queue.close());
  const [confirm, enqueue] = [vi.spyOn(ledger, 'confirm'), vi.spyOn(queue, 'enqueue')];
  if (!inOneStep) vi.spyOn(queue, 'claimsWith').mockReturnValue(null);
  const order: string[] = [];
  telemetry.listen((event) => void (STEPS.includes(event) && order.push(event)));
  const schedules = new Schedules({ clock, telemetry });
  const freshness = {
    get knownAt() {
      return clock.now();
    },
  };
  const dispatcher = new Dispatcher({ ledger, queue, clock, telemetry, schedules, freshness });
  const since = Date.now() - 5_000;
  const entry = {
    definition: definition({ name: 'tick' }),
    generation: 1,
    since,
    state: 'active',
    past: [],
    readAt: since,
  };
  const held = Object.assign(holdCron(entry as unknown as CatalogEntry, leaseOf('tick', 1)), { known: true });
  const waiting = async () => (await queue.queues.named(FORMER_QUEUE).getWaiting()).map(({ id }) => id);
  return { dispatcher, held, ledger, redis, order, confirm, enqueue, waiting, events: recordedEvents(telemetry) };
}

describe('Dispatcher', () => {
  it.each([true, false])('tells the same of a run in one step (%s) and in three', async (inOneStep) => {
    const { dispatcher, held, ledger, order, confirm, enqueue, waiting, events } = stage({ inOneStep });
    const [result] = await dispatcher.dispatch([held]);
    expect(result).toMatchObject({ lookAt: expect.any(Number) });
    expect(order).toEqual(STEPS);
    const [{ runId } = { runId: '' }] = events.of('run.confirmed');
    expect(events.of('run.enqueued')).toEqual([{ runId, delivery: 1, cron: 'tick' }]);
    expect(await ledger.readRun(runId)).toMatchObject({ state: 'enqueued' });
    expect(await waiting()).toEqual([runId]);
    const calls = inOneStep ? 0 : 1;
    expect([enqueue.mock.calls.length, confirm.mock.calls.length]).toEqual([calls, calls]);
  });

  it('leaves a cron alone that could not be claimed and enqueued, and claims it at the next try', async () => {
    const { dispatcher, held, redis, waiting, events } = stage({ inOneStep: true });
    const failing = vi
      .spyOn(redis, 'sendCommand')
      .mockImplementationOnce(() => Promise.reject(new Error('Connection is closed.')));
    expect(await dispatcher.dispatch([held])).toEqual([{ failed: true }]);
    failing.mockRestore();
    expect(events.of('store.failed')).toMatchObject([{ operation: 'occurrence.claim', cron: 'tick' }]);
    expect(events.of('run.enqueued')).toEqual([]);
    expect(await waiting()).toEqual([]);
    expect(await dispatcher.dispatch([held])).toMatchObject([{ lookAt: expect.any(Number) }]);
    expect(await waiting()).toHaveLength(1);
  });
});
