import { afterEach, describe, expect, it, vi } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { request, win } from '../support/lease-requests.js';
import { KEEPS_WRITES, healthBook, quorumClients, servers, type Servers } from './quorum-redis.js';
import { privateRedis } from '../support/redis.js';

describe('a quorum of Redis', () => {
  const stops: (() => Promise<void>)[] = [];
  const clients = quorumClients();
  afterEach(async () => {
    await clients.close();
    await Promise.all(stops.splice(0).map((stop) => stop()));
  });

  const start = async (size: number, settings?: Record<string, string>): Promise<Servers> => {
    const started = await servers(size, settings);
    stops.push(started.stop);
    return started;
  };

  it('begins while a minority is down, which joins when it is up', async () => {
    const { all, urls } = await start(3);
    await all[2]!.stop();
    const { store } = await clients.connect(urls);
    await win(store);
    await all[2]!.restartEmpty();
    await all[0]!.stop();
    await expect
      .poll(() => store.acquire(request({ resource: 's' })).catch(() => 'unavailable'))
      .toMatchObject({
        acquired: true,
      });
  });

  it('does not begin while a majority is down, and says of each node why', async () => {
    const { all, urls } = await start(3);
    await all[0]!.stop();
    await all[2]!.stop();
    const refused = clients.connect(urls);
    await expect(refused).rejects.toThrow(SetupError);
    await expect(refused).rejects.toThrow('Expected at least 2 of the 3 nodes of the quorum, reached 1.');
    await expect(refused).rejects.toThrow(`Expected a Redis at 127.0.0.1:${all[0]!.port}, but nothing listens there`);
  });

  it('refuses one server under two addresses', async () => {
    const { all, urls } = await start(2);
    const alias = `redis://localhost:${all[0]!.port}`;
    await expect(clients.connect([...urls, alias])).rejects.toThrow(/is the same server as/);
    await expect(clients.connect([...urls, `${urls[0]}/3`])).rejects.toThrow('to be different servers');
  });

  it('refuses a server that may never vote', async () => {
    const { urls } = await start(2);
    const evicting = await privateRedis({ ...KEEPS_WRITES, 'maxmemory-policy': 'allkeys-lru' });
    stops.push(() => evicting.stop());
    await expect(clients.connect([...urls, evicting.url])).rejects.toThrow('Expected maxmemory-policy noeviction');
  });

  it('decides without a frozen node, leaves it out, and takes it back', async () => {
    const { all, urls } = await start(3);
    const { observe, healthy } = healthBook();
    const frozen = new URL(urls[1]!).host;
    const { store } = await clients.connect(urls, { observe });
    all[1]!.freeze();
    for (let n = 0; healthy.get(frozen) !== false && n < 50; n++) {
      await store.release([await win(store, { resource: `r${n}` })]);
      await store.idle();
    }
    expect(healthy.get(frozen)).toBe(false);
    all[1]!.thaw();
    const isBack = async () => {
      await store.inspect(['r']);
      return healthy.get(frozen);
    };
    await expect.poll(isBack, { timeout: 10_000 }).toBe(true);
  });

  it('hears of releases on a node that was away meanwhile', async () => {
    const { all, urls } = await start(3);
    const { store } = await clients.connect(urls);
    const heard = vi.fn<(resource: string) => void>();
    const stop = await store.watchReleases(heard);
    stops.push(stop);
    await all[0]!.restartEmpty();
    await all[1]!.restartEmpty();
    await all[2]!.stop();
    const hears = async () => {
      await store.release([await win(store)]);
      return heard.mock.calls.length;
    };
    await expect.poll(() => hears().catch(() => 0), { timeout: 15_000 }).toBeGreaterThan(0);
  });
});
