import { AssertionError } from 'node:assert';
import { afterEach, describe, expect, it } from 'vitest';
import { reportStoreFailure } from '@fencepost/jobs/internal';
import { Telemetry } from '@fencepost/jobs';
import { CRON, SchedulerStage, TTL_MS, type StagePod } from '../support/scheduler-stage.js';
import { recordedEvents } from '../support/recorded.js';

const BUG = new TypeError("Cannot read properties of undefined (reading 'x')");

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function started(stage: SchedulerStage, pod: StagePod): Promise<void> {
  stops.push(() => pod.stop());
  await pod.start();
}

describe('a bug in what takes a cron on', () => {
  it('gives the lease back that no one acts under, and is told with its stack and not as store trouble', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const pod = stage.pod();
    let calls = 0;
    const hold = pod.engine.hold.bind(pod.engine);
    pod.engine.hold = (crons) => {
      calls += 1;
      if (calls === 1) throw BUG;
      hold(crons);
    };
    await started(stage, pod);
    await stage.clock.advance(1_000);
    expect(calls).toBe(1);
    expect(await stage.holder()).toBeUndefined();
    expect(pod.events.of('program.failed')).toEqual([{ operation: 'lease.apply', cron: CRON, err: BUG }]);
    expect(pod.events.of('store.failed')).toEqual([]);
  });

  it('lets another pod act for the cron at once', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const [broken, healthy] = [stage.pod('broken'), stage.pod('healthy')];
    broken.engine.hold = () => {
      throw BUG;
    };
    await started(stage, broken);
    await started(stage, healthy);
    await stage.clock.advance(3 * TTL_MS);
    expect((await stage.ran()).length).toBeGreaterThan(0);
  });

  it('is not met again and again: the pod waits a minute before it takes the cron on once more', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const pod = stage.pod();
    let calls = 0;
    pod.engine.hold = () => {
      calls += 1;
      throw BUG;
    };
    await started(stage, pod);
    await stage.clock.advance(55_000);
    expect(calls).toBe(1);
    await stage.clock.advance(10_000);
    expect(calls).toBe(2);
  });
});

describe('a bug in what acquires leases', () => {
  it.each<[where: string, error: Error]>([
    ['a codec that cannot read the record of a cron', BUG],
    ['a reply that no release of a store gives', new Error('Expected a reply of read-crons, got 7.')],
  ])('is a program error and no store trouble: %s', async (_, error) => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const pod = stage.pod();
    let calls = 0;
    stage.memoryLedger.readCrons = () => {
      calls += 1;
      return Promise.reject(error);
    };
    await started(stage, pod);
    await stage.clock.advance(55_000);
    expect(pod.events.of('program.failed')).toEqual([{ operation: 'lease.acquire', cron: CRON, err: error }]);
    expect(pod.events.of('store.failed')).toEqual([]);
    expect(calls).toBe(1);
  });
});

describe('what goes wrong while a store is asked', () => {
  function told(error: unknown) {
    const telemetry = new Telemetry();
    const events = recordedEvents(telemetry);
    reportStoreFailure(telemetry, { operation: 'cron.sweep' }, error);
    return [events.of('store.failed').length, events.of('program.failed').length];
  }

  it.each([
    new TypeError('x is not a function'),
    new ReferenceError('x'),
    new RangeError('not a whole number'),
    new AssertionError({ message: 'not equal' }),
    new Error('Expected a reply of pause-cron, got 7.'),
  ])('is a bug for %s', (error) => expect(told(error)).toEqual([0, 1]));

  it('is store trouble for what clients of stores throw', () => {
    const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
    const reply = Object.assign(new Error('READONLY'), { name: 'ReplyError' });
    const fetched = new TypeError('fetch failed', { cause: refused });
    const errors = [refused, reply, fetched, new AggregateError([refused]), new Error('Connection is closed.')];
    for (const error of errors) expect(told(error)).toEqual([1, 0]);
  });
});
