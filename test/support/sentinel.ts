import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { freePort } from '../../scripts/redis.mjs';
import { privateRedis, redisProgram } from './redis.js';
import type { PrivateRedis } from './redis.js';
import { serverProcess } from './server-process.js';
import type { ServerProcess } from './server-process.js';

export const PRIMARY_NAME = 'mymaster';

export interface SentinelStage {
  /** The first is the primary, at first. */
  readonly servers: readonly PrivateRedis[];
  readonly sentinels: readonly { host: string; port: number }[];
  /** The server that the first sentinel calls the primary now. */
  primary(): Promise<PrivateRedis>;
  /** Resolves when the sentinels see so many replicas, or more, whose link to the primary is up. */
  untilReplicated(replicas: number): Promise<void>;
  stop(): Promise<void>;
}

/** One primary, two replicas and three sentinels, which need 300 ms to take a server for dead. */
export async function sentinelStage(settings: Record<string, string> = {}): Promise<SentinelStage> {
  const fast = { 'repl-diskless-sync-delay': '0', 'repl-ping-replica-period': '1', ...settings };
  const primary = await privateRedis(fast);
  const following = { ...fast, replicaof: `127.0.0.1 ${primary.port}` };
  const replicas = await Promise.all([privateRedis(following), privateRedis(following)]);
  const guards = await Promise.all([1, 2, 3].map(() => startSentinel(primary.port)));
  const servers = [primary, ...replicas];
  const ask = new Redis(guards[0]!.port, '127.0.0.1', { commandTimeout: 5_000 });
  const stage: SentinelStage = {
    servers,
    sentinels: guards.map(({ port }) => ({ host: '127.0.0.1', port })),
    primary: async () => {
      const [, port] = (await ask.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', PRIMARY_NAME)) as string[];
      return servers.find((one) => one.port === Number(port))!;
    },
    untilReplicated: async (count) => {
      const look = async () => expect((await seen(ask)).replicas).toBeGreaterThanOrEqual(count);
      await vi.waitFor(look, { timeout: 20_000 });
    },
    stop: async () => {
      ask.disconnect();
      await Promise.all([...guards.map((guard) => guard.end()), ...servers.map((one) => one.stop())]);
    },
  };
  await stage.untilReplicated(2);
  await vi.waitFor(async () => expect((await seen(ask)).sentinels).toBe(3), { timeout: 20_000 });
  return stage;
}

/** A failover needs sentinels that know each other, and replicas whose link they have seen up. */
async function seen(sentinel: Redis): Promise<{ sentinels: number; replicas: number }> {
  const others = pairs(await sentinel.call('SENTINEL', 'SENTINELS', PRIMARY_NAME));
  const replicas = pairs(await sentinel.call('SENTINEL', 'REPLICAS', PRIMARY_NAME));
  const linked = replicas.filter((one) => one.get('master-link-status') === 'ok' && one.get('flags') === 'slave');
  return { sentinels: 1 + others.filter((one) => one.get('flags') === 'sentinel').length, replicas: linked.length };
}

function pairs(reply: unknown): Map<string, string>[] {
  return (reply as string[][]).map(
    (flat) => new Map(flat.flatMap((word, n) => (n % 2 === 0 ? [[word, flat[n + 1] ?? '']] : []))),
  );
}

async function startSentinel(watched: number): Promise<ServerProcess & { readonly port: number }> {
  const port = await freePort();
  const cwd = mkdtempSync(join(tmpdir(), 'test-sentinel-'));
  // A file, because a sentinel writes into it what it has learnt.
  writeFileSync(join(cwd, 'sentinel.conf'), configuration(port, watched));
  const program = { ...(await redisProgram()), args: ['sentinel.conf', '--sentinel'], cwd, ready: /Sentinel ID is/ };
  return { ...(await serverProcess(program)), port };
}

function configuration(port: number, watched: number): string {
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor ${PRIMARY_NAME} 127.0.0.1 ${watched} 2`,
    `sentinel down-after-milliseconds ${PRIMARY_NAME} 300`,
    `sentinel failover-timeout ${PRIMARY_NAME} 1000`,
    '',
  ].join('\n');
}
