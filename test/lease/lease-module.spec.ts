import { Test, type TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LeaseKeeper, hashResource, processIdentity } from '@fencepost/lease/internal';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS, LEASE_SETTINGS, LEASE_STORE, LeaseModule } from '@fencepost/lease/nest';
import * as fc from 'fast-check';
import { pino } from 'pino';
import { Leases, LeaseLostError, SetupError, parseFence, leaseLog, type LeaseEvent } from '@fencepost/lease';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { ManualClock } from '@fencepost/lease/testing';
import { clearPrefixes, freshPrefix, privateRedis, testRedis } from '../support/redis.js';

async function start(module: ReturnType<typeof LeaseModule.forRoot>): Promise<TestingModule> {
  const started = await Test.createTestingModule({ imports: [module] }).compile();
  return started.init();
}

describe('LeaseModule', () => {
  let observer: Redis;

  beforeAll(() => {
    observer = new Redis(testRedis());
  });

  afterAll(() => closeRedis(observer));

  it('provides store, clock, keeper, settings and connection', async () => {
    const app = await start(LeaseModule.forRoot({ redis: testRedis(), prefix: freshPrefix(), holder: 'pod-7' }));
    expect(app.get(LEASE_STORE)).toBeInstanceOf(RedisLeaseStore);
    expect(app.get<LeaseKeeper>(LeaseKeeper).holder).toMatch(/^pod-7\/[0-9a-f]{8}-[0-9a-f]{12}$/);
    expect(app.get(LEASE_REDIS)).toBeInstanceOf(Redis);
    expect(app.get(LEASE_SETTINGS)).toMatchObject({ tenant: 'default', ttlMs: 10_000 });
    expect(app.get(CLOCK)).toHaveProperty('monotonic');
    await app.close();
  });

  it('gives its leases back at shutdown and closes its connection', async () => {
    const prefix = freshPrefix();
    const app = await start(LeaseModule.forRoot({ redis: testRedis(), prefix }));
    const redis = app.get<Redis>(LEASE_REDIS);
    const held = await app.get<LeaseKeeper>(LeaseKeeper).tryAcquire('r', { ttlMs: 10_000 });
    await app.close();
    expect(held).toMatchObject({ acquired: true, lease: { signal: { aborted: true } } });
    const store = new RedisLeaseStore({ redis: observer, prefix, tenant: 'default' });
    expect(await store.inspect(['r'])).toEqual([null]);
    expect(redis.status).toBe('end');
    await clearPrefixes(observer, [prefix]);
  });

  it("opens connections of its own beside a given one, which stays its owner's, and closes that of a function", async () => {
    const mine = new Redis(testRedis());
    const made: Redis[] = [];
    const make = async () => made[made.push(new Redis(testRedis(), { lazyConnect: true })) - 1]!;
    for (const redis of [mine, make]) {
      const app = await start(LeaseModule.forRoot({ redis, prefix: freshPrefix() }));
      expect(await app.get<Redis>(LEASE_REDIS).ping()).toBe('PONG');
      expect(app.get(LEASE_REDIS)).not.toBe(mine);
      await app.close();
      expect(app.get<Redis>(LEASE_REDIS).status).toBe('end');
    }
    expect(await mine.ping()).toBe('PONG');
    expect(made.map(({ status }) => status)).toEqual(['end']);
    await closeRedis(mine);
    const wrong = start(LeaseModule.forRoot({ redis: (() => 'redis://a') as never }));
    await expect(wrong).rejects.toThrow('The function in the option "redis" returned an unexpected value');
  });

  it('says in a sentence that credentials could not be had', async () => {
    const credentials = () => Promise.reject(new Error('no token'));
    const starting = start(LeaseModule.forRoot({ redis: { url: testRedis(), credentials } }));
    await expect(starting).rejects.toThrow(new SetupError('The function in "credentials" failed: no token.'));
  });

  it('warns in the log of Nest of a server that may lose leases, unless the log is unwanted', async () => {
    const server = await privateRedis({ save: '' });
    const said: unknown[] = [];
    const logger = { log: () => {}, error: () => {}, warn: (message: unknown) => said.push(message) };
    for (const options of [{ log: false }, { log: 'connection' }, {}] as const) {
      const module = LeaseModule.forRoot({ redis: server.url, prefix: freshPrefix(), ...options });
      const app = await Test.createTestingModule({ imports: [module] })
        .setLogger(logger)
        .compile();
      await app.close();
      expect(said).toHaveLength('log' in options ? 0 : 1);
    }
    expect(said).toEqual([expect.stringContaining('a restart loses leases')]);
    await server.stop();
  });

  it('closes in bounded time when the store is away', async () => {
    const app = await start(LeaseModule.forRoot({ redis: testRedis(), prefix: freshPrefix() }));
    await app.get(LeaseKeeper).tryAcquire('r', { ttlMs: 10_000 });
    await closeRedis(app.get<Redis>(LEASE_REDIS));
    await app.close();
    expect(app.get<Redis>(LEASE_REDIS).status).toBe('end');
  });
});

/** What pino writes with everything on, one line for each event. */
function written() {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  return { lines, logger };
}

interface About {
  readonly resource: string;
  readonly holder: string;
}

/** As ioredis throws it: with the command and all of its arguments on it. */
function errorOf({ resource, holder }: About): Error {
  const args = [`fencepost:v1:{default:${resource}}:lease`, holder];
  const { message } = new LeaseLostError(resource, 'expired');
  return Object.assign(new Error(`${message} ${args.join(' ')}`), { code: 'ECONNRESET', command: { name: 'x', args } });
}

/** One of each event; a name that is missing doesn't compile. */
function everyEvent(about: About): { readonly [E in LeaseEvent as E['name']]: Omit<E, 'name'> } {
  const { resource } = about;
  const term = { ...about, fence: parseFence('1787654321123456') };
  const error = errorOf(about);
  return {
    'lease.acquired': { ...term, ttlMs: 10_000, tookMs: 1 },
    'lease.busy': { resource, remainingMs: 5_000, tookMs: 1 },
    'lease.acquire-failed': { resource, tookMs: 1_000, error },
    'lease.extended': term,
    'lease.ttl-changed': { ...term, ttlMs: 10_000 },
    'lease.extend-failed': { ...term, error },
    'session.extended': { holder: about.holder, leases: 3, ttlMs: 10_000 },
    'session.extend-failed': { holder: about.holder, leases: 3, error: errorOf({ ...about, resource: 'session' }) },
    'lease.lost': { ...term, reason: 'expired', heldMs: 8_000 },
    'lease.released': { ...term, heldMs: 20 },
    'lease.stale-release': { ...term, heldMs: 20_000 },
    'lease.release-failed': { ...term, heldMs: 20, error },
    'lease.ttl-unfit': { resource, verdict: 'too-long', ttlMs: 60_000, advisedTtlMs: 300 },
    'fence.rejected': { ...term, downstream: 'billing' },
    'node.health': { node: 'redis://app:s3cret@node-a:6379', healthy: false, because: 'redis://app:s3cret@x is away' },
    'store.warning': { code: 'EVICTION', message: 'redis://app:s3cret@x may evict keys' },
  };
}

describe('the log of a lease', () => {
  const UUID = fc.uuid({ version: 4 });

  const anId = fc.stringMatching(/^[A-Za-z0-9@=+]{6,30}$/).map((id) => `${id}-id`);

  const aType = fc.constantFrom('', 'order:', 'Order:');

  describe('the log', () => {
    it('shows neither the resource nor the whole of the holder, whatever happens', () => {
      fc.assert(
        fc.property(aType, anId, UUID, (type, id, uuid) => {
          const { lines, logger } = written();
          const observe = leaseLog(logger, { clock: new ManualClock() });
          const events = Object.entries(everyEvent({ resource: `${type}${id}`, holder: `pod-7/${uuid}` }));
          for (const [name, detail] of events) observe({ name, ...detail } as LeaseEvent);
          expect(lines).toHaveLength(events.length);
          for (const line of lines) {
            for (const secret of [id, uuid, uuid.slice(9), 's3cret', 'stack']) expect(line).not.toContain(secret);
            expect(JSON.parse(line)).toMatchObject({ event: expect.stringMatching(/^[a-z_]+$/) });
          }
        }),
      );
    });
  });

  describe('the log of leases in Redis', () => {
    let redis: Redis;
    beforeAll(async () => {
      redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
    });
    afterAll(() => closeRedis(redis));

    it('follows a resource by its hash and a term by its fence, from the grant to the loss', async () => {
      const space = { prefix: freshPrefix(), tenant: 'default' };
      const { lines, logger } = written();
      const holder = processIdentity('pod-7');
      const store = new RedisLeaseStore({ redis, ...space });
      await using leases = new Leases({ store, holder, observe: leaseLog(logger) });
      const lease = (await leases.tryAcquire('patient:anna'))!;
      await redis.del(redisKeys(space)('patient:anna', 'lease'));
      await leases.renewMany([lease]);
      await clearPrefixes(redis, [space.prefix]);
      const shown = { resource: hashResource('patient:anna'), resource_type: 'patient', fence: lease.fence };
      const owner = holder.slice(0, 'pod-7/'.length + 8);
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
        expect.objectContaining({ event: 'lease_acquired', level: 30, ...shown, owner, ttl_ms: 10_000 }),
        expect.objectContaining({ event: 'lease_lost', level: 40, ...shown, owner, reason: 'refused' }),
      ]);
      expect(lines.join('\n')).not.toMatch(new RegExp(`anna|${holder}`));
    });

    it('tells of a command that failed without its arguments', async () => {
      const space = { prefix: freshPrefix(), tenant: 'default' };
      const { lines, logger } = written();
      await redis.set(redisKeys(space)('patient:anna', 'fence'), 'not a number');
      await using leases = new Leases({ store: new RedisLeaseStore({ redis, ...space }), observe: leaseLog(logger) });
      await expect(leases.tryAcquire('patient:anna')).rejects.toThrow(/whole number/);
      await clearPrefixes(redis, [space.prefix]);
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
        expect.objectContaining({
          event: 'lease_acquire_failed',
          error_message: expect.stringContaining('whole number'),
        }),
      ]);
      expect(lines.join('\n')).not.toMatch(new RegExp(`anna|${leases.holder.split('/')[1]}`));
    });
  });
});
