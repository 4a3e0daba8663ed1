import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { JobsModule, SingletonCron, Telemetry, type JobsModuleOptions, type RunContext } from '@fencepost/jobs';
import { connectLeases, type LeaseStore } from '@fencepost/lease';
import { PostgresLeaseStore } from '@fencepost/lease/postgres';
import { closeRedis, RedisLeaseStore } from '@fencepost/lease/redis';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { recordedWarnings } from '../support/recorded.js';
import { postgresForTests } from '../support/postgres.js';
import { freshPrefix, privateRedis } from '../support/redis.js';
import { rejectionOf } from '../support/refusals.js';
import { replicatedRedis } from '../support/replicated-redis.js';

const EVERY_SECOND = { appendonly: 'yes', appendfsync: 'everysec' };
const ALWAYS = { appendonly: 'yes', appendfsync: 'always' };

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step();
});

@Injectable()
class Charges {
  @SingletonCron('@yearly', { name: 'charge', criticality: 'correctness' })
  charge(run: RunContext): string {
    return run.id;
  }
}

async function worker(options: Partial<JobsModuleOptions> & { redis: string }, telemetry = new Telemetry()) {
  const jobs = JobsModule.forRoot({ roles: ['worker'], prefix: freshPrefix(), drainDeadline: '1s', ...options });
  const built = Test.createTestingModule({ imports: [jobs], providers: [Charges] });
  const app: INestApplicationContext = await built.overrideProvider(Telemetry).useValue(telemetry).compile();
  cleanUp.push(() => app.close());
  return app.init();
}

async function redisWith(settings: Record<string, string>): Promise<{ url: string; client: Redis }> {
  const server = await privateRedis(settings);
  cleanUp.push(() => server.stop());
  const client = new Redis(server.url);
  cleanUp.push(() => closeRedis(client));
  return { url: server.url, client };
}

describe('a job for which a duplicate is damage', { timeout: 60_000 }, () => {
  it('does not start on appendfsync everysec, and the refusal names each line that would do', async () => {
    const { url } = await redisWith(EVERY_SECOND);
    expect(await rejectionOf(worker({ redis: url }))).toMatchObject({
      code: 'CLASSIFICATION',
      message: expect.stringMatching(
        /found everysec.+Change one of these lines: "appendfsync always" in redis\.conf, or "waitReplicas: 1" .+"ledger: 'postgres'"/s,
      ),
    });
  });

  it('starts on appendfsync always', async () => {
    const { url } = await redisWith(ALWAYS);
    expect(await worker({ redis: url })).toBeDefined();
  });

  it('starts on appendfsync everysec where each write waits for a replica, and on PostgreSQL', async () => {
    const servers = await replicatedRedis(EVERY_SECOND);
    cleanUp.push(() => servers.stop());
    await worker({ redis: servers.primary.url, waitReplicas: 1 });
    const postgres = await postgresForTests();
    const url = new URL(postgres.url);
    // The server of the tests need not last, and only says so of its disk.
    const pool = new Pool({ connectionString: url.href, options: '-c synchronous_commit=on' });
    cleanUp.push(() => pool.end());
    const { rows } = await pool.query(`select setting from pg_settings where name = 'fsync'`);
    const { url: redis } = await redisWith(EVERY_SECOND);
    const started = worker({ redis, ledger: 'postgres', postgres: { pool, migrate: true, schema: 'truth_05' } });
    const outcome = await started.then(() => 'started', String);
    expect(outcome).toMatch(rows[0].setting === 'on' ? /^started$/ : /Found: Expected fsync on in PostgreSQL/);
  });

  it('starts with a warning where a managed Redis does not tell its settings', async () => {
    const { url } = await redisWith({ ...EVERY_SECOND, 'rename-command CONFIG': 'x' });
    const [telemetry, found] = [new Telemetry(), [] as string[]];
    telemetry.listen(
      (event, detail) => event === 'classification.doubtful' && found.push(String(Reflect.get(detail, 'found'))),
    );
    await worker({ redis: url }, telemetry);
    expect(found).toEqual([
      expect.stringContaining('it refused CONFIG GET save, CONFIG GET appendfsync, so that is unknown'),
    ]);
  });
});

describe('leases whose loss does damage, in a store that was handed over', { timeout: 60_000 }, () => {
  const criticality = 'correctness';
  const opened = async (store: LeaseStore, observe?: ReturnType<typeof recordedWarnings>['observe']) => {
    const leases = await connectLeases({ store, criticality, ...(observe ? { observe } : {}) });
    cleanUp.push(() => leases.close());
  };

  it('are refused on appendfsync everysec, and not on always', async () => {
    const { client: redis } = await redisWith(EVERY_SECOND);
    const store = new RedisLeaseStore({ redis, prefix: freshPrefix(), tenant: 'default' });
    expect(await rejectionOf(opened(store))).toMatchObject({
      code: 'SETUP',
      message: expect.stringContaining('found everysec'),
    });
    await connectLeases({ store }).then((leases) => leases.close());
    await redis.config('SET', 'appendfsync', 'always');
    await opened(store);
  });

  it('are accepted on appendfsync everysec where each acquire waits for a replica', async () => {
    const { client: redis } = await redisWith(EVERY_SECOND);
    const replication = { redis, replicas: 1, timeoutMs: 100 };
    const warnings = recordedWarnings();
    const space = { prefix: freshPrefix(), tenant: 'default' };
    await opened(new RedisLeaseStore({ redis, ...space, replication }), warnings.observe);
    expect(warnings.codes).toEqual(['APPEND_FSYNC']);
  });

  it('are refused on a PostgreSQL that acknowledges before it has written', async () => {
    const postgres = await postgresForTests();
    const pool = new Pool({ connectionString: postgres.url, max: 1, options: '-c synchronous_commit=off' });
    cleanUp.push(() => pool.end());
    const refused = await rejectionOf(opened(new PostgresLeaseStore({ client: pool })));
    expect(refused).toMatchObject({ message: expect.stringContaining('Expected synchronous_commit on in PostgreSQL') });
  });

  it('are refused in memory, and of a store that says nothing of itself a warning says that it is unknown', async () => {
    expect(await rejectionOf(opened(new MemoryLeaseStore()))).toMatchObject({
      message: expect.stringContaining('found one in memory'),
    });
    const ofItsOwn: LeaseStore = Object.assign(new MemoryLeaseStore(), { probe: undefined as never });
    const warnings = recordedWarnings();
    await opened(ofItsOwn, warnings.observe);
    expect(warnings.codes).toEqual(['UNCHECKED']);
  });
});
