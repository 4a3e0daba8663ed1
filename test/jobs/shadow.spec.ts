import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import { CLOCK } from '@fencepost/lease/nest';
import { ManualClock } from '@fencepost/lease/testing';
import { JobsModule } from '@fencepost/jobs';
import { RedisMembership } from '@fencepost/jobs/internal';
import { fencepost } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';
import { freshPrefix, testRedis } from '../support/redis.js';

const spaces = redisSpaces();
const HOUR = 3_600_000;
/** Of today: Redis drops records by its own clock. */
const START = Math.floor(Date.now() / HOUR) * HOUR;

@Injectable()
class Reports {
  ran = 0;

  @Cron('0 * * * *', { timeZone: 'UTC' })
  hourly(): void {
    this.ran += 1;
  }

  @Cron('0 * * * *', { name: 'named', timeZone: 'UTC' })
  named(): void {}

  @Cron('* * * * *', { name: 'off', disabled: true })
  off(): void {}

  @Interval(90_000)
  poll(): void {}

  @Interval('refresh', 3_600_000)
  refresh(): void {}

  @Cron(new Date(Date.now() + 3_600_000), { name: 'once' })
  once(): void {}
}

/** The jobs of the registry are fired by hand: their own timers go by the clock of the machine. */
async function pod(prefix: string, clock: ManualClock, { tenant = 'default', enabled = true } = {}) {
  const place = { redis: testRedis(), prefix, tenant, pod: `pod-${Math.random()}` };
  const shadow = JobsModule.forRoot({ shadow: true, enabled, ...place });
  const building = Test.createTestingModule({ imports: [shadow, ScheduleModule.forRoot()], providers: [Reports] });
  const app = await building.overrideProvider(CLOCK).useValue(clock).compile();
  await app.init();
  const jobs = app.get(SchedulerRegistry, { strict: false }).getCronJobs();
  const hourly = [...jobs].find(([name]) => /^[0-9a-f-]{36}$/.test(name))?.[1];
  return { app, tick: (name?: string) => (name === undefined ? hourly : jobs.get(name))?.fireOnTick() };
}

describe('shadow mode', () => {
  it('runs nothing, and reports of each instant what several pods did', async () => {
    const [prefix, clock] = [freshPrefix(), new ManualClock(START + 60_000)];
    const pods = [await pod(prefix, clock), await pod(prefix, clock)];
    await clock.advance(59 * 60_000);
    for (const one of pods) await one.tick();
    await pods[0]?.tick('named');
    await clock.advance(60_000);
    expect(pods[0]?.app.get(Reports).ran).toBe(1);
    for (const { app } of pods) await app.close();

    const args = ['shadow', 'report', '--redis', testRedis(), '--prefix', prefix];
    const { code, json } = await fencepost([...args, '--json']);
    expect(code).toBe(1);
    expect(json).toMatchObject({
      crons: [
        {
          name: 'Reports.hourly',
          counts: { same: 0, doubled: 1, missed: 0, late: 0 },
          instants: [
            { at: new Date(START + HOUR).toISOString(), verdict: 'doubled', ran: [{ lateByMs: 0 }, { lateByMs: 0 }] },
          ],
        },
        {
          name: 'named',
          expression: '0 * * * *',
          timeZone: 'UTC',
          counts: { same: 1, doubled: 0, missed: 0, late: 0 },
        },
      ],
    });
    const named = await fencepost([...args, '--cron', 'named', '--json']);
    expect(named).toMatchObject({ code: 0, json: { crons: [{ name: 'named' }], notCompared: [] } });
  });

  it('names each interval that it does not compare, and says why', async () => {
    const [prefix, clock] = [freshPrefix(), new ManualClock(START + 60_000)];
    const { app } = await pod(prefix, clock);
    const handle = setInterval(() => {}, 3_600_000);
    app.get(SchedulerRegistry, { strict: false }).addInterval('added', handle);
    await app.close();
    const args = ['shadow', 'report', '--redis', testRedis(), '--prefix', prefix];
    expect((await fencepost([...args, '--json'])).json).toMatchObject({
      notCompared: [
        { name: 'Reports.poll', everyMs: 90_000 },
        { name: 'added', everyMs: null },
        { name: 'refresh', everyMs: 3_600_000 },
      ],
    });
    const { out } = await fencepost(args);
    expect(out.replace(/\s+/g, ' ')).toContain('each pod runs it: N pods run it N times');
    expect(out).toMatch(/Reports\.poll +90000 ms\n/);
    const one = await fencepost([...args, '--cron', 'added', '--json']);
    expect(one).toMatchObject({ code: 0, json: { crons: [], notCompared: [{ name: 'added' }] } });
  });

  it('is no pod of the deployment beside it, which would assign crons to it', async () => {
    const space = { redis: spaces.redis(), ...spaces.fresh() };
    const { app } = await pod(space.prefix, new ManualClock(START), space);
    // By then it has announced itself, where nobody assigns anything.
    await expect.poll(() => space.redis.keys(`*${space.prefix}.shadow*heartbeats*`)).not.toEqual([]);
    const firing = new RedisMembership(space);
    const { members } = await firing.heartbeat('scheduler/1');
    expect(members.map((member) => member.pod)).toEqual(['scheduler/1']);
    await app.close();
  });

  it('records nothing in a process that is switched off', async () => {
    const { prefix } = spaces.fresh();
    const clock = new ManualClock(START);
    const { app, tick } = await pod(prefix, clock, { enabled: false });
    expect(Object.keys(app.get(SchedulerRegistry))).not.toContain('addCronJob');
    await clock.advance(60 * 60_000);
    await tick();
    expect(app.get(Reports).ran).toBe(1);
    await app.close();
    expect(await spaces.redis().keys(`*${prefix}*`)).toEqual([]);
  });

  it('starts in no role, and says so to who asks for both', async () => {
    const both = { shadow: true, roles: ['worker'], redis: testRedis() };
    const module = JobsModule.forRoot(both as never);
    await expect(Test.createTestingModule({ imports: [module] }).compile()).rejects.toThrow(
      'either "shadow" or "roles"',
    );
  });
});
