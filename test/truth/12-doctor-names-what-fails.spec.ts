import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron } from '@fencepost/jobs';
import { OperationsModule, CronOperator, Doctor, RunOperator } from '@fencepost/operations';
import { afterEach, expect, it } from 'vitest';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from '../jobs/redis-space.js';

const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

const NEVER = '0 0 1 1 *';

@Injectable()
class Reports {
  @SingletonCron(NEVER, { name: 'broken', retry: { attempts: 1 } })
  broken(): never {
    throw new Error('no paper');
  }

  @SingletonCron(NEVER, { name: 'fine' })
  fine(): void {}
}

it(
  'a cron that fails again and again is a finding, with its name, its count and its error',
  { timeout: 60_000 },
  async () => {
    const jobs = JobsModule.forRoot({
      ...{
        roles: ['scheduler', 'worker'],
        redis: testRedis(),
        ...spaces.fresh(),
        leaseTtl: '1s',
        app: 'test',
      },
    });
    const app = await (
      await Test.createTestingModule({ imports: [jobs, OperationsModule.on(jobs)], providers: [Reports] }).compile()
    ).init();
    apps.push(app);
    const failing = async () => (await app.get(Doctor).examine()).filter(({ code }) => code === 'FAILING');
    const failed = async () => (await app.get(RunOperator).failed({ cron: 'broken' })).length;
    for (let n = 1; n <= 6; n += 1) {
      for (const cron of ['broken', 'fine']) await app.get(CronOperator).trigger(cron, { by: 'ada', reason: 'a test' });
      await expect.poll(failed, { timeout: 20_000 }).toBe(n);
    }
    expect(await failing()).toMatchObject([{ level: 'bad', subject: 'broken' }]);
    expect((await failing())[0]?.text).toBe(
      '1 cron fails: broken (6 in a row). The newest of broken: Error: no paper.',
    );
  },
);
