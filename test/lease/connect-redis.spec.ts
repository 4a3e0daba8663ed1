import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { privateRedis, testRedis } from '../support/redis.js';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step();
});

async function server(settings: Record<string, string> = {}) {
  const started = await privateRedis(settings);
  cleanUp.push(() => started.stop());
  return started;
}

async function connected(over: Partial<Parameters<typeof connectRedis>[0]> = {}): Promise<Redis> {
  const redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 500, name: 'test', ...over });
  cleanUp.push(() => closeRedis(redis));
  return redis;
}

async function refusal(url: string): Promise<string> {
  const error: unknown = await connectRedis({ url, commandTimeoutMs: 500, name: 'test' }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(SetupError);
  // ioredis keeps the arguments of AUTH on its error: nothing of that may hang on ours.
  expect(error).not.toHaveProperty('cause');
  return (error as SetupError).message;
}

/** Resolves when as many connection errors more have come. */
async function errors(redis: Redis, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => redis.once('error', resolve));
}

/** Something that listens and isn't a Redis. */
async function stranger(greet: (socket: Socket) => void): Promise<{ url: string; open: Set<Socket> }> {
  const open = new Set<Socket>();
  const listening = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => {});
    socket.on('data', () => greet(socket));
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  cleanUp.push(async () => {
    for (const socket of open) socket.destroy();
    listening.close();
    await once(listening, 'close');
  });
  return { url: `redis://127.0.0.1:${(listening.address() as AddressInfo).port}`, open };
}

describe('connectRedis', () => {
  it('says that nothing listens there', async () => {
    const started = await server();
    await started.stop();
    const address = started.url.replace('//', '//:secret@');
    expect(await refusal(address)).toBe(
      `Expected a Redis at redis://***@127.0.0.1:${started.port}, but nothing listens there (ECONNREFUSED). ` +
        'Start Redis, or correct the address.',
    );
  });

  it('says that the password is wrong, or missing, without printing it', async () => {
    const { port } = await server({ requirepass: 'right' });
    const wrong = await refusal(`redis://:wr0ng-one@127.0.0.1:${port}`);
    expect(wrong).toContain('it refused the user or the password (WRONGPASS)');
    expect(wrong).not.toContain('wr0ng-one');
    expect(await refusal(`redis://127.0.0.1:${port}`)).toContain('it wants a password (NOAUTH)');
    const redis = await connected({ url: `redis://:right@127.0.0.1:${port}` });
    expect(await redis.ping()).toBe('PONG');
  });

  it('refuses a server that evicts, says what to set, and leaves no connection there', async () => {
    const { url } = await server({ 'maxmemory-policy': 'allkeys-lru' });
    expect(await refusal(url)).toMatch(/found allkeys-lru.*Set it with: CONFIG SET maxmemory-policy noeviction\.$/);
    const observer = new Redis(url);
    cleanUp.push(() => closeRedis(observer));
    await expect
      .poll(
        async () =>
          String(await observer.client('LIST'))
            .trim()
            .split('\n').length,
      )
      .toBe(1);
  });

  it('refuses what is not a redis:// address, without printing its password', async () => {
    expect(await refusal('http://:secret@localhost')).toBe(
      'Expected a Redis address such as redis://localhost:6379, got "http://***@localhost".',
    );
  });

  it('gives up within seconds on something that accepts and never answers, and hangs up', async () => {
    const { url, open } = await stranger(() => {});
    const startedAt = performance.now();
    expect(await refusal(url)).toContain('it did not answer in time');
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    await expect.poll(() => open.size).toBe(0);
  });

  it('comes back by itself after an outage, in which commands reject and trouble is told in few words', async () => {
    const started = await server();
    const troubles: string[] = [];
    const redis = await connected({ url: started.url, onTrouble: (message) => troubles.push(message) });
    await started.stop();
    const sentAt = performance.now();
    await expect(redis.ping()).rejects.toBeInstanceOf(Error);
    expect(performance.now() - sentAt).toBeLessThan(5_000);
    await errors(redis, 4);
    expect(troubles).toHaveLength(1);
    await started.restartEmpty();
    await expect.poll(() => redis.ping().catch(() => 'away'), { timeout: 10_000 }).toBe('PONG');
    expect(troubles[0]).toMatch(/^Redis at redis:\/\/127\.0\.0\.1:\d+: ./);
  });
});
