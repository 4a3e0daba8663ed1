import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, afterEach, beforeEach } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { RedisLeaseStore, closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { watchChannel } from '@fencepost/lease/internal/redis';
import { freePort } from '../../scripts/redis.mjs';
import { win } from '../support/lease-requests.js';
import { recordedWarnings } from '../support/recorded.js';
import { freshPrefix, type PrivateRedis, testRedis } from '../support/redis.js';
import { PRIMARY_NAME, sentinelStage, type SentinelStage } from '../support/sentinel.js';

const COMMAND_TIMEOUT_MS = 300;

const TTL_MS = 60_000;

const settings = { commandTimeoutMs: COMMAND_TIMEOUT_MS, name: 'test' };

function refusal(sentinels: SentinelStage['sentinels'], name: string): Promise<unknown> {
  return connectRedis({ ...settings, sentinel: { sentinels, name } }).catch((error: unknown) => error);
}

describe('leases behind a Sentinel', () => {
  let stage: SentinelStage;

  beforeAll(async () => {
    stage = await sentinelStage();
  });

  afterAll(() => stage.stop());

  describe('connectRedis by sentinels', () => {
    it('finds the primary, also when the first sentinel it asks is gone', async () => {
      const gone = { host: '127.0.0.1', port: await freePort() };
      const sentinel = { sentinels: [gone, ...stage.sentinels], name: PRIMARY_NAME };
      const redis = await connectRedis({ ...settings, sentinel });
      expect(await redis.info('replication')).toContain('role:master');
      await closeRedis(redis);
    });

    it('says that none of them answers', async () => {
      const error = await refusal([{ host: '127.0.0.1', port: await freePort() }], PRIMARY_NAME);
      expect(error).toBeInstanceOf(SetupError);
      expect(error).toHaveProperty('message', expect.stringContaining('none of them answers'));
    });
  });

  describe('a failover that sentinels decide', () => {
    let redis: Redis;
    const warnings = recordedWarnings();

    beforeAll(async () => {
      const sentinel = { sentinels: stage.sentinels, name: PRIMARY_NAME };
      redis = await connectRedis({ ...settings, sentinel, observe: warnings.observe });
    });
    afterAll(() => closeRedis(redis));

    /** Goes on where the connection ends up, on a resource that nobody holds. */
    async function nextFence(store: RedisLeaseStore): Promise<number> {
      let fence = 0;
      const look = async () => {
        const term = await win(store, { ttlMs: TTL_MS }).catch(() => null);
        fence = term?.fence ?? 0;
        if (term) await store.release([term]);
        return fence;
      };
      await expect.poll(look, { interval: 50, timeout: 20_000 }).toBeGreaterThan(0);
      return fence;
    }

    async function expectFollowed(hit: (primary: PrivateRedis) => unknown): Promise<void> {
      await stage.untilReplicated(1);
      const primary = await stage.primary();
      const store = new RedisLeaseStore({ redis, prefix: freshPrefix(), tenant: 't' });
      const before = await nextFence(store);
      const told = warnings.codes.length;
      await hit(primary);
      await expect.poll(async () => (await stage.primary()).port, { timeout: 20_000 }).not.toBe(primary.port);
      expect(await nextFence(store)).toBeGreaterThan(before);
      await expect.poll(() => warnings.codes.slice(told)).toContain('HISTORY_LOST');
    }

    it('is followed when the primary freezes: fences go on increasing, and the lost history is told', async () => {
      // It stays frozen: thawed, it would be a candidate for the next failover, with its old data.
      await expectFollowed((primary) => primary.freeze());
    });
  });
});

const SUBSCRIPTION = /\r\nsubscribe\r\n/i;

/** Stands before a Redis and can lose what asks for a subscription, and nothing else. */
class DeafToSubscriptions {
  deaf = false;
  /** How many subscriptions got lost. */
  lost = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((client) => {
      const upstream = connect(Number(new URL(testRedis()).port), '127.0.0.1');
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
      }
      client.on('close', () => upstream.destroy()).on('data', (bytes) => this.#pass(bytes, upstream));
      upstream.on('close', () => client.destroy()).pipe(client);
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(bytes: Buffer, upstream: Socket): void {
    if (this.deaf && SUBSCRIPTION.test(bytes.toString('latin1'))) this.lost += 1;
    else upstream.write(bytes);
  }
}

/* ioredis subscribes anew by itself, and lets its promise fall: what that rejects with ends the process. */
describe('a subscription that is not answered after the connection was lost', () => {
  const REPLY_TIMEOUT_MS = 150;

  const space = { prefix: freshPrefix(), tenant: 't' };
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  let line: DeafToSubscriptions;
  let url: string;
  let direct: RedisClient;

  beforeEach(async () => {
    line = new DeafToSubscriptions();
    url = await line.listen();
    direct = await connectRedis({ url: testRedis(), commandTimeoutMs: 2_000, name: 'test' });
    unhandled.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    process.off('unhandledRejection', note);
    await closeRedis(direct);
    await line.close();
  });

  /** The connection is lost, and whoever comes back is heard in everything but that. */
  async function loseSubscriptions(times: number): Promise<void> {
    line.deaf = true;
    line.cut();
    await expect.poll(() => line.lost, { timeout: 10_000 }).toBeGreaterThanOrEqual(times);
  }

  it('is asked for again until it is answered, and ends nobody', async () => {
    const redis = await connectRedis({ url, commandTimeoutMs: REPLY_TIMEOUT_MS, name: 'test' });
    const heard: string[] = [];
    const stop = await watchChannel(redis, `${space.prefix}:channel`, (message) => heard.push(message));
    await loseSubscriptions(2);
    line.deaf = false;
    const told = async () => (await direct.publish(`${space.prefix}:channel`, 'again')) > 0 && heard.includes('again');
    await expect.poll(told, { timeout: 10_000 }).toBe(true);
    await stop();
    await closeRedis(redis);
    expect(unhandled).toEqual([]);
  });
});
