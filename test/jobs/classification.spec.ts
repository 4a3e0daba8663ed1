import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest';
import { probeRedis, type ProbeOptions } from '@fencepost/lease/internal/redis-checks';
import { closeRedis } from '@fencepost/lease/redis';
import { readPostgresSettings } from '@fencepost/ledger/durability';
import { Telemetry } from '@fencepost/jobs';
import { checkClassification } from '../../libs/jobs/src/nest/classification.js';
import { checkCron } from '../../libs/jobs/src/nest/cron-declaration.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { privateRedis } from '../support/redis.js';
import { rejectionOf } from '../support/rejection-of.js';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step();
});

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await postgresForTests();
});
afterAll(() => postgres.stop());

const cron = { expression: '@daily', options: { name: 'charge', criticality: 'correctness' } };
const handlers = [{ where: 'Jobs.charge', ...checkCron('Jobs.charge', cron, Date.now()) }];

async function overRedis(settings: Record<string, string>): Promise<void> {
  const server = await privateRedis(settings);
  cleanUp.push(() => server.stop());
  const redis = new Redis(server.url);
  cleanUp.push(() => closeRedis(redis));
  const probes = { redis: (demands: ProbeOptions) => probeRedis(redis, demands), postgres: async () => ({}) };
  await checkClassification({
    handlers,
    settings: { ledger: 'redis', waitReplicas: 0 },
    probes,
    telemetry: new Telemetry(),
  });
}

async function overPostgres(options: string): Promise<void> {
  const pool = new Pool({ connectionString: postgres.url, max: 1, options });
  cleanUp.push(() => pool.end());
  const probes = { redis: async () => [], postgres: () => readPostgresSettings(pool) };
  const settings = { ledger: 'postgres', waitReplicas: 0 } as const;
  await checkClassification({ handlers, settings, probes, telemetry: new Telemetry() });
}

describe('a job for which a duplicate is damage', () => {
  it('starts on a Redis that keeps what it acknowledged, and on no other', async () => {
    await overRedis({ appendonly: 'yes', appendfsync: 'always' });
    const refused = overRedis({});
    expect(await rejectionOf(refused)).toMatchObject({
      code: 'CLASSIFICATION',
      message: expect.stringMatching(
        /Jobs\.charge \("charge"\).+Change one of these lines: "appendonly yes" in redis\.conf;/s,
      ),
    });
  });

  it('starts on a PostgreSQL that does, and on none whose commits come before the disk', async () => {
    // The server of the tests may itself be one that needn't last, so what is asked for is said by the connection.
    const refused = await rejectionOf(overPostgres('-c synchronous_commit=off'));
    expect(refused).toMatchObject({ message: expect.stringContaining('Expected synchronous_commit on in PostgreSQL') });
    const pool = new Pool({ connectionString: postgres.url, max: 1, options: '-c synchronous_commit=on' });
    cleanUp.push(() => pool.end());
    expect(await readPostgresSettings(pool)).toMatchObject({
      synchronous_commit: 'on',
      fsync: expect.stringMatching(/^(on|off)$/),
      full_page_writes: expect.stringMatching(/^(on|off)$/),
    });
  });
});
