import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { JobsModule, SingletonCron, type RunContext } from '@fencepost/jobs';
import { OperationsModule, LeaseService } from '@fencepost/operations';
import { CRON_LEASE_STORE } from '@fencepost/jobs/internal';
import { Leases, parseFence, type LeaseStore } from '@fencepost/lease';
import { Election, RedisSemaphoreStore, SingleFlight } from '@fencepost/lease/coordination';
import { ConsulLeaseStore } from '@fencepost/lease/consul';
import { EtcdLeaseStore } from '@fencepost/lease/etcd';
import { ZookeeperLeaseStore } from '@fencepost/lease/zookeeper';
import { PostgresLeaseStore } from '@fencepost/lease/postgres';
import { RedisLeaseStore } from '@fencepost/lease/redis';
import { MemoryFencedValues, RedisFencedRows, RedisFencedValues } from '@fencepost/lease/sinks';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { RedisJournal } from '@fencepost/operations/journal';
import { RedisLedger } from '@fencepost/ledger/redis';
import { happened } from '../contracts/journal.contract.js';
import { claim, claimOf } from '../jobs/audit-stores.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { privateEtcd } from '../support/etcd.js';
import { consulDouble } from '../support/consul-double.js';
import { privateZookeeper } from '../support/zookeeper.js';
import { postgresForTests } from '../support/postgres.js';
import { leaseSandbox } from '../support/postgres-sandbox.js';
import { testRedis } from '../support/redis.js';
import { rejectionOf } from '../support/refusals.js';

const NAME = 'weekly-report';
const SOON = { timeout: 20_000 };
const ZERO = parseFence('0');

const spaces = redisSpaces();
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step();
});

const requestOf = (nonce: string) => ({ resource: NAME, nonce, holder: `${nonce}/1`, ttlMs: 60_000, floor: ZERO });

@Injectable()
class Reports {
  readonly ran: string[] = [];

  @SingletonCron('* * * * * *', { name: NAME, overlap: 'allow' })
  report(run: RunContext): void {
    this.ran.push(run.id);
  }
}

async function app(space: { prefix: string; tenant: string }) {
  const jobs = JobsModule.forRoot({
    roles: ['scheduler', 'worker'],
    redis: testRedis(),
    ...space,
    leaseTtl: '2s',
    drainDeadline: '1s',
  });
  const built = await Test.createTestingModule({
    imports: [jobs, OperationsModule.on(jobs)],
    providers: [Reports],
  }).compile();
  cleanUp.push(() => built.close());
  return built;
}

describe("an own lease with a cron's name", { timeout: 60_000 }, () => {
  it('does not stop the cron, and is not the one that is shown or cleared as its lease', async () => {
    const built = await app(spaces.fresh());
    // Before the cron has begun, and for as long as it runs.
    const own = await built.get(Leases, { strict: false }).tryAcquire(NAME);
    expect(own).not.toBeNull();
    await built.init();
    const reports = built.get(Reports);
    await expect.poll(() => reports.ran.length, SOON).toBeGreaterThan(1);
    const crons: LeaseStore = built.get(CRON_LEASE_STORE, { strict: false });
    const [held] = await crons.inspect([NAME]);
    expect(held?.fence).not.toBe(own?.fence);
    const [shown] = (await built.get(LeaseService, { strict: false }).list()).held;
    expect(shown).toMatchObject({ cron: NAME, fence: held?.fence });
    await crons.evict?.(NAME, held?.fence ?? ZERO);
    expect(await built.get(Leases, { strict: false }).inspect(NAME)).toMatchObject({ fence: own?.fence });
    expect(own?.signal.aborted).toBe(false);
  });

  it('is granted while a pod holds the cron', async () => {
    const built = await app(spaces.fresh());
    await built.init();
    const crons: LeaseStore = built.get(CRON_LEASE_STORE, { strict: false });
    await expect.poll(async () => (await crons.inspect([NAME]))[0] ?? null, SOON).not.toBeNull();
    const own = await built.get(Leases, { strict: false }).tryAcquire(NAME);
    expect(own).not.toBeNull();
    await own?.release();
    expect((await crons.inspect([NAME]))[0]).not.toBeNull();
  });
});

const stores: [string, () => Promise<(kind?: 'cron') => LeaseStore>][] = [
  [
    'Redis',
    async () => {
      const at = { redis: spaces.redis(), ...spaces.fresh() };
      return (kind) => new RedisLeaseStore({ ...at, ...(kind ? { kind } : {}) });
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const server = await postgresForTests();
      const sandbox = await leaseSandbox(server.url);
      cleanUp.push(() => sandbox.close());
      const { pool: client, schema } = sandbox;
      return (kind) => new PostgresLeaseStore({ client, schema, ...(kind ? { kind } : {}) });
    },
  ],
  [
    'etcd',
    async () => {
      const server = await privateEtcd();
      return (kind) => new EtcdLeaseStore({ endpoints: [server.endpoint], ...(kind ? { kind } : {}) });
    },
  ],
  [
    'ZooKeeper',
    async () => {
      const server = await privateZookeeper();
      cleanUp.push(() => server.stop());
      return (kind) => new ZookeeperLeaseStore({ servers: [server.address], ...(kind ? { kind } : {}) });
    },
  ],
  [
    'Consul',
    async () => {
      const server = await consulDouble();
      cleanUp.push(() => server.stop());
      return (kind) => new ConsulLeaseStore({ endpoints: [server.url], ...(kind ? { kind } : {}) });
    },
  ],
];

describe.each(stores)('in %s', (_, open) => {
  it("a cron's lease and an own one of the same name never meet", { timeout: 60_000 }, async () => {
    const of = await open();
    const [own, cron] = [of(), of('cron')];
    const heard: string[] = [];
    cleanUp.push(await own.watchReleases(() => heard.push('own')));
    cleanUp.push(await cron.watchReleases(() => heard.push('cron')));
    expect(await own.acquire(requestOf('mine'))).toMatchObject({ acquired: true });
    expect(await cron.acquire(requestOf('theirs'))).toMatchObject({ acquired: true });
    expect((await own.inspect([NAME]))[0]).toMatchObject({ holder: 'mine/1' });
    expect((await cron.inspect([NAME]))[0]).toMatchObject({ holder: 'theirs/1' });
    expect(await cron.release([requestOf('theirs')])).toEqual([true]);
    await expect.poll(() => heard, SOON).toEqual(['cron']);
    expect((await own.inspect([NAME]))[0]).toMatchObject({ holder: 'mine/1' });
    expect(await own.release([requestOf('mine')])).toEqual([true]);
    await expect.poll(() => heard, SOON).toEqual(['cron', 'own']);
  });
});

describe('elections and single flights', () => {
  it.each(['role:sweeper', 'flight:rates'])(
    'keep the names that begin like %s for themselves, in any store',
    async (name) => {
      const leases = new Leases({ store: new MemoryLeaseStore() });
      const [type, id] = name.split(':') as [string, string];
      for (const resource of [name, { type, id }]) {
        for (const taking of [leases.tryAcquire(resource), leases.acquire(resource), leases.acquireMany([resource])]) {
          expect(await rejectionOf(taking)).toMatchObject({
            code: 'SETUP',
            message: expect.stringContaining(`my-${type}`),
          });
        }
      }
    },
  );

  it('work under them', async () => {
    const store = new MemoryLeaseStore();
    const leases = new Leases({ store });
    const leadership = await new Election({ leases }).campaign('sweeper');
    expect((await store.inspect(['role:sweeper']))[0]).toMatchObject({ fence: leadership.fence });
    await leadership.resign();
    const flights = new SingleFlight({ leases, cache: new MemoryFencedValues() });
    expect(await flights.get('rates', { fresh: '1m' }, async () => 7)).toBe(7);
  });
});

async function runOnce(ledger: RedisLedger): Promise<void> {
  const run = { runId: `${NAME}@1000`, nonce: 'n' };
  await claim(ledger, claimOf({ cron: NAME, scheduledAt: 1_000 }));
  const begun = await ledger.begin({ ...run, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 1 });
  if (begun.verdict !== 'begun') throw new Error(`Expected the run to begin, got ${begun.verdict}.`);
  await ledger.finish({ ...run, fence: begun.fence }, { kind: 'succeeded' });
}

describe('in Redis, what has the name of a cron', () => {
  it(
    'shares no key with it, however it is made, and all of the cron lies under one hash tag',
    { timeout: 60_000 },
    async () => {
      const [redis, space] = [spaces.redis(), spaces.fresh()];
      const at = { redis, ...space };
      const seen = new Set<string>();
      const made = async (make: () => Promise<unknown>): Promise<string[]> => {
        await make();
        const fresh = (await redis.keys(`${space.prefix}:*`)).filter((key) => !seen.has(key));
        fresh.forEach((key) => seen.add(key));
        return fresh;
      };
      const places = { ...requestOf('place'), places: 2 };
      const fenced = { fence: parseFence('7'), idempotencyKey: 'k' };
      const makers: [string, number, () => Promise<unknown>][] = [
        ['own lease', 2, () => new RedisLeaseStore(at).acquire(requestOf('own'))],
        ["cron's lease", 2, () => new RedisLeaseStore({ ...at, kind: 'cron' }).acquire(requestOf('cron'))],
        ['own semaphore', 2, () => new RedisSemaphoreStore(at).acquire(places)],
        ["a job's semaphore", 2, () => new RedisSemaphoreStore({ ...at, kind: 'cron' }).acquire(places)],
        ['journal', 1, () => new RedisJournal(at).append([happened('lease.lost', { cron: NAME })])],
        ['rows', 3, () => new RedisFencedRows({ ...at, table: NAME }).write({ row: 'r', value: 'v', ...fenced })],
        ['value', 1, () => new RedisFencedValues(at).set(NAME, 'v', { ttlMs: 60_000, fence: fenced.fence })],
        ['ledger', 1, () => runOnce(new RedisLedger(at))],
      ];
      for (const [what, least, make] of makers) {
        const keys = await made(make);
        expect(keys.length, what).toBeGreaterThanOrEqual(least);
        // What all crons share: a journal, and the counter of fences.
        const own = keys.filter((key) => !/:(happened|notable|notable-order)$|\{default:fences\}:ledger$/.test(key));
        for (const key of own) expect(key, what).toContain(`{default:${NAME}}`);
      }
    },
  );

  it('reads and writes only its own journal if it is a table of rows', async () => {
    const at = { redis: spaces.redis(), ...spaces.fresh() };
    const [rows, journal] = [new RedisFencedRows({ ...at, table: NAME }), new RedisJournal(at)];
    await rows.write({ row: 'r', value: 'v', fence: parseFence('7'), idempotencyKey: 'k' });
    await journal.append([happened('lease.lost', { cron: NAME })]);
    expect(await rows.journal()).toEqual([{ row: 'r', idempotencyKey: 'k', fence: parseFence('7') }]);
    expect(await journal.ofCron(NAME, { limit: 10 })).toHaveLength(1);
  });
});
