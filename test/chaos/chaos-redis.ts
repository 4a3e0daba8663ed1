import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { WallClock } from '../support/faketime.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { serverFolder } from '../support/server-process.js';

/** A Redis that may be hurt. What it acknowledged survives its process, unless it is told to start empty. */
export interface ChaosRedis extends PrivateRedis {
  /** Absent where a server's clock can't be stepped. */
  readonly clock?: WallClock;
  /** SIGKILL; with what it had acknowledged on its disk. */
  kill(): Promise<void>;
  /** On the same port. */
  restart(how?: 'empty'): Promise<void>;
  wipe(): Promise<void>;
  /** Asks the server by itself, on a connection of its own. */
  ask<T>(question: (redis: Redis) => Promise<T>): Promise<T>;
}

const KEEPS_WRITES = { appendonly: 'yes', appendfsync: 'always' };

/** @param settings of redis.conf beside those by which it loses nothing */
export async function chaosRedis(settings: Record<string, string> = {}, clock?: WallClock): Promise<ChaosRedis> {
  const dir = serverFolder('chaos-redis-');
  const server = await privateRedis({ ...KEEPS_WRITES, dir, ...settings }, clock?.env);
  const empty = () => {
    for (const entry of readdirSync(dir)) rmSync(join(dir, entry), { recursive: true });
  };
  return {
    ...{ url: server.url, port: server.port, busPort: server.busPort },
    get pid() {
      return server.pid;
    },
    ...(clock ? { clock } : {}),
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    kill: () => server.stop(),
    restart: async (how) => {
      if (how === 'empty') empty();
      await server.restartEmpty();
    },
    restartEmpty: async () => {
      await server.stop();
      empty();
      await server.restartEmpty();
    },
    wipe: async () => void (await ask(server.url, (redis) => redis.flushall())),
    ask: (question) => ask(server.url, question),
    stop: async () => {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  redis.on('error', () => {});
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}
