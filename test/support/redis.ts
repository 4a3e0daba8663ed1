import { randomUUID } from 'node:crypto';
import type { RedisClient, RedisTarget } from '@fencepost/lease/redis';
import { findRedisServer, freePort } from '../../scripts/redis.mjs';
import { serverFolder, serverProcess, type Freezable, type ServerProcess } from './server-process.js';

/** The Redis that all tests share; each keeps to its own prefix. */
export function testRedis(): string {
  const url = process.env['REDIS_URL'];
  if (!url)
    throw new Error('Expected REDIS_URL: run the tests with the root vitest.config.ts, whose global setup sets it.');
  return url;
}

/** A prefix no other test uses, so that tests can run at once and after each other on one server. */
export function freshPrefix(): string {
  return `test-${randomUUID().slice(0, 13)}`;
}

/** Deletes what these prefixes have left. One look through the whole server: `KEYS` for each would be one for each. */
export async function clearPrefixes(redis: RedisClient, prefixes: readonly string[]): Promise<void> {
  const ours = new Set(prefixes);
  // BullMQ's keys begin with a hash tag.
  const left = (await redis.keys('*')).filter((key) => ours.has(/^\{?([^:]+):/.exec(key)?.[1] ?? ''));
  for (let n = 0; n < left.length; n += 1_000) await redis.unlink(left.slice(n, n + 1_000));
}

export interface PrivateRedis extends Freezable {
  readonly url: string;
  readonly port: number;
  /** Where the nodes of a cluster talk to one another; none without `cluster-enabled`. */
  readonly busPort: number | undefined;
  /** Changes with a restart. */
  readonly pid: number;
  stop(): Promise<void>;
  /** A new process without data on the same port; with a `dir` among the settings, one with what was saved there. */
  restartEmpty(): Promise<void>;
}

/**
 * A server for one test to freeze, stop and restart.
 * @param settings of redis.conf, such as `{ requirepass: 'secret' }`
 * @param env what the server's environment has beside this one's, such as a library to preload
 */
export async function privateRedis(
  settings: Record<string, string> = {},
  env: NodeJS.ProcessEnv = {},
): Promise<PrivateRedis> {
  const { all, port, busPort, ...started } = await startOnFreePort(settings, env);
  let { server } = started;
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    busPort,
    get pid() {
      return server.pid;
    },
    stop: () => server.end(),
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    restartEmpty: async () => {
      await server.end();
      server = await start(all, env);
    },
  };
}

const MAX_TRIES = 5;

/** Between the look at a port and the server's bind somebody else may take it, and a node of a cluster needs two. */
async function startOnFreePort(settings: Record<string, string>, env: NodeJS.ProcessEnv) {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    // By default it is the port plus 10,000, which may be somebody else's.
    const busPort = settings['cluster-enabled'] === 'yes' ? await freePort() : undefined;
    const all = { bind: '127.0.0.1', port: `${port}`, save: '', appendonly: 'no', ...busOf(busPort), ...settings };
    try {
      return { all, port, busPort, server: await start(all, env) };
    } catch (error) {
      if (tries === MAX_TRIES || !/already in use/i.test(String(error))) throw error;
    }
  }
}

function busOf(port: number | undefined): Record<string, string> {
  return port === undefined ? {} : { 'cluster-port': `${port}` };
}

async function start(settings: Record<string, string>, extra: NodeJS.ProcessEnv): Promise<ServerProcess> {
  const { command, env } = await redisProgram();
  return serverProcess({
    command,
    args: Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]),
    // A folder of its own: a server in cluster mode writes into it.
    cwd: serverFolder('test-redis-'),
    env: { ...env, ...extra },
    ready: /Ready to accept connections/,
    failed: /FATAL|Failed|not found/,
  });
}

/** What starts a server of one's own: the resolver prefers the shared one of REDIS_URL, which is not ours to freeze. */
export async function redisProgram(): Promise<{ command: string; env: NodeJS.ProcessEnv }> {
  const shared = process.env['REDIS_URL'];
  delete process.env['REDIS_URL'];
  // It reads the variable before its first pause, so that nobody else misses it meanwhile.
  const finding = findRedisServer();
  if (shared !== undefined) process.env['REDIS_URL'] = shared;
  const { command, env = process.env, how } = await finding;
  if (!command) throw new Error(`Expected a redis-server to start for this test, found only ${how}.`);
  return { command, env };
}

/** What tells a pod where its Redis is; what this process was told itself is taken out. */
export function redisEnvironment(target: RedisTarget): Record<string, string> {
  const none = { REDIS_URL: '', REDIS_SENTINELS: '', REDIS_SENTINEL_NAME: '', REDIS_CLUSTER: '' };
  if ('url' in target) return { ...none, REDIS_URL: target.url };
  if ('cluster' in target) return { ...none, REDIS_CLUSTER: target.cluster.join(',') };
  const { sentinels, name } = target.sentinel;
  const addresses = sentinels.map(({ host, port }) => `${host}:${port}`);
  return { ...none, REDIS_SENTINELS: addresses.join(','), REDIS_SENTINEL_NAME: name };
}
