import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, Telemetry } from '@fencepost/jobs';
import { systemClock, type Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import { OperationsModule } from '@fencepost/operations';
import { JobsMetrics, MetricsModule } from '@fencepost/operations/metrics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisSpaces } from '../jobs/redis-space.js';
import { fencepost } from '../support/fencepost.js';
import { recordedEvents, type RecordedEvents } from '../support/recorded.js';
import { testRedis } from '../support/redis.js';

const WITHIN = { timeout: 60_000, interval: 250 };
const TIMES_FASTER = 10;

/** The worker's minutes take six seconds. The store and the scheduler keep real time. */
function fastClock(): Clock {
  const began = Date.now();
  const monotonic = () => systemClock.monotonic() * TIMES_FASTER;
  const first = monotonic();
  return {
    now: () => Math.floor(began + monotonic() - first),
    monotonic,
    after: (delayMs, task) => systemClock.after(delayMs / TIMES_FASTER, task),
  };
}

let letGo = () => {};

@Injectable()
class Calls {
  #calls = 0;

  @SingletonCron('* * * * * *', { name: 'call', overlap: 'skip', misfire: 'skip' })
  async call(): Promise<void> {
    this.#calls += 1;
    // A call without a timeout.
    if (this.#calls === 4) await new Promise<void>((resolve) => (letGo = resolve));
  }
}

describe('a handler that never returns', { timeout: 90_000 }, () => {
  const spaces = redisSpaces();
  const apps: INestApplicationContext[] = [];
  let [told, alarms]: RecordedEvents[] = [];
  let env: Record<string, string> = {};

  beforeAll(async () => {
    const space = spaces.fresh();
    env = { REDIS_URL: testRedis(), FENCEPOST_PREFIX: space.prefix };
    const common = { redis: testRedis(), ...space, app: 'test', drainDeadline: '1s', alarms: { lookEvery: '500ms' } };
    const scheduling = JobsModule.forRoot({ ...common, roles: ['scheduler'] });
    const scheduler = await Test.createTestingModule({
      imports: [scheduling, OperationsModule.on(scheduling)],
    }).compile();
    const working = JobsModule.forRoot({ ...common, roles: ['worker'], runLease: '60s' });
    const worker = await Test.createTestingModule({
      imports: [working, MetricsModule.on(working)],
      providers: [Calls],
    })
      .overrideProvider(CLOCK)
      .useValue(fastClock())
      .compile();
    apps.push(worker, scheduler);
    alarms = recordedEvents(scheduler.get(Telemetry));
    told = recordedEvents(worker.get(Telemetry));
    await Promise.all(apps.map((app) => app.init()));
  });

  afterAll(async () => {
    letGo();
    await Promise.all(apps.map((app) => app.close()));
  });

  it('A1 is told of by an event of the worker, with how long its runs usually take', async () => {
    await expect.poll(() => told?.of('cron.standstill').length, WITHIN).toBe(1);
    expect(told?.of('cron.standstill')).toMatchObject([
      { cron: 'call', cause: 'handler-hangs', text: expect.stringMatching(/has been running for .*; 95 of 100 take/) },
    ]);
  });

  it('A1 is a finding of doctor, a state of list and a line of why', async () => {
    await expect
      .poll(async () => (await fencepost(['doctor', '--json'], { env })).json, WITHIN)
      .toContainEqual(expect.objectContaining({ code: 'HANDLER_HANGS', level: 'warn', subject: 'call' }));
    const { json } = await fencepost(['list', '--json'], { env });
    expect(json).toMatchObject([{ name: 'call', health: { state: 'standstill' } }]);
    const { out } = await fencepost(['why', 'call', 'last'], { env });
    expect(out).toContain('Until it ends, overlap "skip" skips');
  });

  it('A1 raises an alarm although nobody asked for the cron to be monitored', async () => {
    await expect.poll(() => alarms?.of('alarm.raised'), WITHIN).toMatchObject([{ cron: 'call', kind: 'standstill' }]);
  });

  it('A1 is a metric of its worker', async () => {
    const { registry } = apps[0]!.get(JobsMetrics);
    await expect
      .poll(() => registry.metrics(), WITHIN)
      .toContain('fencepost_cron_standstill{cron="call",cause="handler-hangs"} 1');
  });

  it('A1 is over once it returns, and so is its alarm', async () => {
    letGo();
    await expect.poll(() => told?.of('cron.resumed'), WITHIN).toMatchObject([{ cron: 'call', cause: 'handler-hangs' }]);
    await expect.poll(() => alarms?.of('alarm.cleared'), WITHIN).toMatchObject([{ kind: 'standstill' }]);
  });
});
