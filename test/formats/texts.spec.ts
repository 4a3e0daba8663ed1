import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, Telemetry } from '@fencepost/jobs';
import { RedisMembership } from '@fencepost/jobs/internal';
import { FIRST_FORMAT, FORMAT } from '@fencepost/ledger/format';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { CronCatalog, OperationsModule } from '@fencepost/operations';
import { afterEach, describe, expect, it } from 'vitest';
import { by, cron, entryOf } from '../contracts/catalog/stage.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { recordedEvents } from '../support/recorded.js';
import { testRedis } from '../support/redis.js';

const TEXTS = { description: 'Bills the day', owner: 'billing', runbookUrl: 'https://wiki.example/bills' };
const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

@Injectable()
class Bills {
  @SingletonCron('0 3 * * *', { name: 'bills', ...TEXTS })
  bill(): void {}
}

async function start() {
  const space = spaces.fresh();
  const older = new RedisMembership({ redis: spaces.redis(), ...space, format: FIRST_FORMAT });
  await older.announce('old-pod/1');
  const jobs = JobsModule.forRoot({ roles: ['worker'], redis: testRedis(), ...space, drainDeadline: '2s' });
  const providers = [Bills];
  const app = await Test.createTestingModule({ imports: [jobs, OperationsModule.on(jobs)], providers }).compile();
  apps.push(app);
  const events = recordedEvents(app.get(Telemetry));
  await app.init();
  return { app, events, older, catalog: new RedisCatalog({ redis: spaces.redis(), ...space }) };
}

describe('description, owner and runbook of a cron, beside a process of the format before', () => {
  it('come with the declaration once that process has gone, and until then one event says so', async () => {
    const { events, older, catalog } = await start();
    const { definition, generation } = await entryOf(catalog, 'bills');
    expect(definition).not.toHaveProperty('owner');
    expect(generation).toBe(1);
    const held = { crons: ['bills'], format: FIRST_FORMAT, pod: 'old-pod/1' };
    expect(events.of('catalog.texts-held')).toMatchObject([held]);
    await older.leave('old-pod/1');
    await expect
      .poll(async () => (await entryOf(catalog, 'bills')).definition, { timeout: 10_000 })
      .toMatchObject(TEXTS);
    expect((await entryOf(catalog, 'bills')).generation).toBe(2);
    expect(events.of('format.risen')).toMatchObject([{ format: FORMAT }]);
    expect(events.of('catalog.redeclared')).toEqual([]);
  });

  it('are refused in an order, which names that process', async () => {
    const { app, older, catalog } = await start();
    const order = { by: 'ada' };
    const asked = app.get(CronCatalog).set('more', { expression: '0 4 * * *', owner: 'billing' }, order);
    await expect(asked).rejects.toThrow(
      '"more" can\'t have a description, an owner or a runbook yet: the process "old-pod/1" has format 2, and they need ' +
        'format 3. Upgrade that process, then repeat the command.',
    );
    await older.leave('old-pod/1');
    await app.get(CronCatalog).set('more', { expression: '0 4 * * *', owner: 'billing' }, order);
    expect((await entryOf(catalog, 'more')).definition.owner).toBe('billing');
  });

  it('stay as they are when a process of the same revision declares them without', async () => {
    const catalog = new RedisCatalog({ redis: spaces.redis(), ...spaces.fresh() });
    await catalog.declare([cron(TEXTS)], by(7));
    expect(await catalog.declare([cron()], by(7))).toEqual([{ cron: 'nightly-report', word: 'same' }]);
    expect((await entryOf(catalog)).definition).toMatchObject(TEXTS);
  });
});
