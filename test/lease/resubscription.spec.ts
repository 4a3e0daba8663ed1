import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@fencepost/lease';
import { watchChannel } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { RedisQuorumNode } from '../../libs/lease/src/quorum/redis-quorum-node.js';
import { redisChannel } from '../../libs/lease/src/store/keys.js';
import { freshPrefix, testRedis } from '../support/redis.js';

const COMMAND_TIMEOUT_MS = 150;
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
    const redis = await connectRedis({ url, commandTimeoutMs: COMMAND_TIMEOUT_MS, name: 'test' });
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

  it('ends nobody either when a node of a quorum is closed meanwhile', async () => {
    const node = new RedisQuorumNode({
      ...{ ...space, url, name: 'node', commandTimeoutMs: COMMAND_TIMEOUT_MS, longestTtlMs: 1_000 },
      ...{ clock: systemClock, random: Math.random, meet: () => {} },
    });
    const stop = await node.watchReleases(() => {});
    await expect
      .poll(() => direct.publish(redisChannel(space, 'released'), 'r'), { timeout: 10_000 })
      .toBeGreaterThan(0);
    await loseSubscriptions(1);
    await stop();
    await node.close();
    await expect.poll(() => direct.publish(redisChannel(space, 'released'), 'r')).toBe(0);
    expect(unhandled).toEqual([]);
  });
});
