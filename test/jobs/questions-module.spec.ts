import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, type Role } from '@fencepost/jobs';
import { OperationsModule, Forecasts, Timelines, ExplainService } from '@fencepost/operations';
import { afterEach, expect, it } from 'vitest';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

@Injectable()
class Mails {
  @SingletonCron('* * * * * *', { name: 'mail' })
  mail(): void {}
}

async function start(roles: readonly Role[]): Promise<INestApplicationContext> {
  const jobs = JobsModule.forRoot({ roles, redis: testRedis(), ...spaces.fresh(), drainDeadline: '2s' });
  const app = await Test.createTestingModule({
    imports: [jobs, OperationsModule.on(jobs)],
    providers: [Mails],
  }).compile();
  apps.push(app);
  return app.init();
}

it.each<[readonly Role[]]>([[['scheduler', 'worker']], [['worker']]])(
  'a process with the roles %j answers what people ask about crons',
  async (roles) => {
    const app = await start(roles);
    await expect.poll(async () => (await app.get(Timelines).of('mail')).items.length).toBeGreaterThan(0);
    await expect.poll(async () => (await app.get(Forecasts).ahead()).next).toMatchObject([{ cron: 'mail' }]);
    const soon = new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, '');
    expect(await app.get(ExplainService).why('mail', soon)).toMatchObject({ verdict: 'will-run' });
  },
);

it('why an instant ran is told with who held the lease then, as the journal has it', async () => {
  const why = (await start(['scheduler', 'worker'])).get(ExplainService);
  const words = async () => JSON.stringify((await why.why('mail', 'last')).steps);
  await expect.poll(words, { timeout: 10_000 }).toContain('held the lease of the cron from');
});
