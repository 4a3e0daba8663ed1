import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { expect, it } from 'vitest';
import { JobsModule, SingletonCron, type RunContext } from '@fencepost/jobs';
import { CATALOG } from '@fencepost/jobs/internal';
import { OperationsModule, CronCatalog } from '@fencepost/operations';
import type { Catalog } from '@fencepost/ledger/catalog';
import { redisSpaces } from '../jobs/redis-space.js';
import { testRedis } from '../support/redis.js';

const spaces = redisSpaces();

@Injectable()
class Reports {
  @SingletonCron('@yearly', { name: 'report' })
  report(run: RunContext): string {
    return run.id;
  }
}

it(
  'declares the crons of its code again within seconds of a loss, as the code has them, and no change of before',
  { timeout: 60_000 },
  async () => {
    const space = spaces.fresh();
    const jobs = JobsModule.forRoot({ roles: ['worker'], redis: testRedis(), ...space, drainDeadline: '1s' });
    const app = await Test.createTestingModule({
      imports: [jobs, OperationsModule.on(jobs)],
      providers: [Reports],
    }).compile();
    await app.init();
    const catalog = app.get<Catalog>(CATALOG, { strict: false });
    const expressions = async () =>
      (await catalog.read()).entries.map(({ definition: { name, expression } }) => `${name} ${expression}`);
    const order = { by: 'ada', reason: 'less often' };
    const crons = app.get(CronCatalog, { strict: false });
    await crons.set('report', { expression: '0 0 29 2 *' }, order);
    expect(await expressions()).toEqual(['report 0 0 29 2 *']);
    await spaces.redis().del(await spaces.redis().keys(`${space.prefix}:*`));
    await expect.poll(expressions, { timeout: 20_000 }).toEqual(['report @yearly']);
    await app.close();
  },
);
