import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, Telemetry, type JobsModuleOptions } from '@fencepost/jobs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPrivatePostgres } from '../../scripts/postgres.mjs';
import { wallClocks, type WallClock, type WallClocks } from '../support/faketime.js';
import { fencepost } from '../support/fencepost.js';
import { recordedEvents, type RecordedEvents } from '../support/recorded.js';
import { privateRedis } from '../support/redis.js';

const WITHIN = { timeout: 90_000, interval: 500 };
const HOUR_MS = 3_600_000;

@Injectable()
class Ticker {
  runs = 0;

  @SingletonCron('* * * * * *', { name: 'tick' })
  tick(): void {
    this.runs += 1;
  }
}

interface Deployment {
  readonly clock: WallClock;
  readonly ticker: Ticker;
  readonly told: RecordedEvents;
  readonly env: Readonly<Record<string, string>>;
}

describe("a store's clock that was an hour ahead for a moment", { timeout: 120_000 }, () => {
  const closing: (() => Promise<unknown>)[] = [];
  const deployments = new Map<string, Deployment>();
  let clocks: WallClocks;

  async function deploy(clock: WallClock, env: Record<string, string>, stores: Partial<JobsModuleOptions>) {
    const jobs = JobsModule.forRoot({
      ...{ roles: ['scheduler', 'worker'], redis: env['REDIS_URL']!, app: 'test', drainDeadline: '1s', log: false },
      ...stores,
    });
    const app: INestApplicationContext = await Test.createTestingModule({
      imports: [jobs],
      providers: [Ticker],
    }).compile();
    closing.unshift(() => app.close());
    const told = recordedEvents(app.get(Telemetry));
    await app.init();
    return { clock, env, told, ticker: app.get(Ticker) };
  }

  beforeAll(async () => {
    clocks = await wallClocks();
    const [redisClock, postgresClock] = [clocks.clock(), clocks.clock()];
    const [stepped, steady, database] = await Promise.all([
      privateRedis({ 'maxmemory-policy': 'noeviction' }, redisClock.env),
      privateRedis({ 'maxmemory-policy': 'noeviction' }),
      startPrivatePostgres({ env: postgresClock.env }),
    ]);
    closing.push(stepped.stop, steady.stop, database.stop);
    const { url } = database;
    const inPostgres = { REDIS_URL: steady.url, FENCEPOST_LEDGER: 'postgres', DATABASE_URL: url };
    const [onRedis, onPostgres] = await Promise.all([
      deploy(redisClock, { REDIS_URL: stepped.url }, {}),
      deploy(postgresClock, inPostgres, { ledger: 'postgres', postgres: { url, migrate: true } }),
    ]);
    deployments.set('Redis', onRedis).set('PostgreSQL', onPostgres);
  }, 60_000);

  afterAll(async () => {
    for (const close of closing) await close();
    clocks.close();
  });

  const stood = async ({ told }: Deployment) => {
    await expect
      .poll(() => told.of('cron.standstill'), WITHIN)
      .toMatchObject([{ cron: 'tick', cause: 'store-clock-back' }]);
  };

  it('A3 is told of by the schedulers, on Redis and PostgreSQL', async () => {
    const all = [...deployments.values()];
    for (const { ticker } of all) await expect.poll(() => ticker.runs, WITHIN).toBeGreaterThan(0);
    for (const { clock } of all) clock.step(HOUR_MS);
    const before = all.map(({ ticker }) => ticker.runs);
    await expect.poll(() => all.every(({ ticker }, n) => ticker.runs > before[n]!), WITHIN).toBe(true);
    for (const { clock } of all) clock.step(-HOUR_MS);
    await Promise.all(all.map(stood));
  });

  it.each(['Redis', 'PostgreSQL'])(
    'A3 is a finding, a state and an answer of the command line on %s',
    async (store) => {
      const { env } = deployments.get(store)!;
      const ask = async (...args: string[]) => (await fencepost([...args, '--json'], { env })).json;
      await expect
        .poll(() => ask('doctor'), WITHIN)
        .toContainEqual(expect.objectContaining({ code: 'STORE_CLOCK_BACK', level: 'bad', subject: 'tick' }));
      expect(await ask('doctor')).not.toContainEqual(expect.objectContaining({ code: 'LEASES_LOST' }));
      expect(await ask('list')).toMatchObject([{ name: 'tick', health: { state: 'standstill' } }]);
    },
  );
});
