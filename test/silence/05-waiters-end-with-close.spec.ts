import { Redis } from 'ioredis';
import { Test } from '@nestjs/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Leases } from '@fencepost/lease';
import { Election, RedisSemaphoreStore, Semaphores, SingleFlight } from '@fencepost/lease/coordination';
import { LeaseModule } from '@fencepost/lease/nest';
import { RedisLeaseStore, closeRedis } from '@fencepost/lease/redis';
import { RedisFencedValues } from '@fencepost/lease/sinks';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

const CLOSED = { name: 'LeasesClosedError', code: 'LEASES_CLOSED' };

function errorOf(waiting: Promise<unknown>): Promise<unknown> {
  return waiting.catch((error: unknown) => error);
}

describe('waiters of closed leases', () => {
  const space = { prefix: freshPrefix(), tenant: 'default' };
  let redis: Redis;

  beforeAll(() => {
    redis = new Redis(testRedis());
  });

  afterAll(async () => {
    await clearPrefixes(redis, [space.prefix]);
    await closeRedis(redis);
  });

  /** Of a pod with a connection of its own that counts the requests that were refused. */
  function pod(holder: string) {
    const store = new RedisLeaseStore({ redis, ...space });
    let refused = 0;
    let heard = (): void => {};
    const observe = ({ name }: { name: string }): void => {
      if (name !== 'lease.busy') return;
      refused += 1;
      heard();
    };
    const leases = new Leases({ store, holder, observe });
    const waits = async (): Promise<void> => {
      if (refused > 0) return;
      await new Promise<void>((resolve) => (heard = resolve));
    };
    return { leases, observe, waits };
  }

  it('a Nest application that closes ends them, and its connections, although another pod holds the lease', async () => {
    const holder = pod('holder');
    const held = await holder.leases.acquire('r');
    let busy = (): void => {};
    const waits = new Promise<void>((resolve) => (busy = resolve));
    const module = LeaseModule.forRoot({
      redis: testRedis(),
      prefix: space.prefix,
      observe: ({ name }) => void (name === 'lease.busy' && busy()),
    });
    const app = await (await Test.createTestingModule({ imports: [module] }).compile()).init();
    const waiting = errorOf(app.get(Leases).acquire('r', { wait: '1h' }));
    await waits;
    await app.close();
    expect(await waiting).toMatchObject(CLOSED);
    expect(await held.release()).toBe(true);
    expect(await holder.leases.inspect('r')).toBeNull();
    await holder.leases.close();
  });

  it('a closed candidate does not become leader, and its observers end', async () => {
    const [leader, candidate] = [pod('leader'), pod('candidate')];
    const leading = await new Election({ leases: leader.leases }).campaign('role');
    const election = new Election({ leases: candidate.leases });
    const candidacy = errorOf(election.campaign('role'));
    const observing = (async () => {
      const seen = [];
      for await (const one of election.observe('role')) seen.push(one?.holder);
      return new Set(seen);
    })();
    await candidate.waits();
    await candidate.leases.close();
    expect(await candidacy).toMatchObject(CLOSED);
    expect(await observing).toEqual(new Set(['leader']));
    await leading.resign();
    expect(await leader.leases.inspect('role:role')).toBeNull();
    await leader.leases.close();
  });

  it('a closed semaphore takes no place', async () => {
    const store = new RedisSemaphoreStore({ redis, ...space });
    const { observe, waits } = pod('late');
    const [early, late] = [new Semaphores({ store }), new Semaphores({ store, observe })];
    const place = await early.of('s', { places: 1 }).acquire();
    const waiting = errorOf(late.of('s', { places: 1 }).acquire({ wait: '1h' }));
    await waits();
    await late.close();
    expect(await waiting).toMatchObject(CLOSED);
    await place.release();
    expect(await early.of('s', { places: 1 }).holders()).toEqual([]);
    await early.close();
  });

  it('a closed client waits for no build of another process', async () => {
    const [builder, reader] = [pod('builder'), pod('reader')];
    const cache = new RedisFencedValues({ redis, ...space });
    const flight = (leases: Leases) => new SingleFlight({ leases, cache });
    let finish = (): void => {};
    let begun = (): void => {};
    const begins = new Promise<void>((resolve) => (begun = resolve));
    const built = flight(builder.leases).get('k', { fresh: '1m', wait: '1h' }, () => {
      begun();
      return new Promise<string>((resolve) => (finish = () => resolve('v')));
    });
    await begins;
    const waiting = errorOf(flight(reader.leases).get('k', { fresh: '1m', wait: '1h' }, async () => 'built twice'));
    await reader.waits();
    await reader.leases.close();
    expect(await waiting).toMatchObject(CLOSED);
    finish();
    expect(await built).toBe('v');
    await builder.leases.close();
  });
});
