import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../scripts/redis.mjs';
import { privateRedis, redisProgram, type PrivateRedis } from './redis.js';
import { serverFolder, serverProcess, type ServerProcess } from './server-process.js';
import { until } from './until.js';

export const PRIMARY_NAME = 'mymaster';

export interface SentinelStage<Server extends PrivateRedis = PrivateRedis> {
  /** The first is the primary, at first. */
  readonly servers: readonly Server[];
  readonly sentinels: readonly { host: string; port: number }[];
  /** Has the first sentinel replace the primary, which goes on as a replica; comes back when that has begun. */
  failover(): Promise<void>;
  /** The server that the first sentinel calls the primary now. */
  primary(): Promise<Server>;
  /**
   * Resolves when every sentinel calls the same server the primary and none is in the middle of a failover. One that has not
   * carried its own to the end when the next is decided may call the server between the two the primary for ever: it has
   * taken the newer epoch and not the newer address.
   */
  untilAgreed(): Promise<void>;
  /** Resolves when the sentinels see so many replicas, or more, whose link to the primary is up. */
  untilReplicated(replicas: number): Promise<void>;
  stop(): Promise<void>;
}

/** One primary, two replicas and three sentinels, which need 300 ms to take a server for dead. */
export function sentinelStage(settings: Record<string, string> = {}): Promise<SentinelStage> {
  return sentinelStageOf(privateRedis, settings);
}

/** @param start a server with these settings of redis.conf */
export async function sentinelStageOf<Server extends PrivateRedis>(
  start: (settings: Record<string, string>) => Promise<Server>,
  settings: Record<string, string> = {},
): Promise<SentinelStage<Server>> {
  const fast = { 'repl-diskless-sync-delay': '0', 'repl-ping-replica-period': '1', ...settings };
  const primary = await start(fast);
  const following = { ...fast, replicaof: `127.0.0.1 ${primary.port}` };
  const replicas = await Promise.all([start(following), start(following)]);
  const guards = await Promise.all([1, 2, 3].map(() => startSentinel(primary.port)));
  const servers = [primary, ...replicas];
  const all = guards.map(({ port }) => new Redis(port, '127.0.0.1', { commandTimeout: 5_000 }));
  const [ask] = all as [Redis, Redis, Redis];
  const stage: SentinelStage<Server> = {
    servers,
    sentinels: guards.map(({ port }) => ({ host: '127.0.0.1', port })),
    primary: async () => {
      const [, port] = (await ask.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', PRIMARY_NAME)) as string[];
      return servers.find((one) => one.port === Number(port))!;
    },
    failover: async () => void (await ask.call('SENTINEL', 'FAILOVER', PRIMARY_NAME)),
    untilAgreed: async () => {
      await until('the sentinels agree', () => agree(all).catch(() => false), SEEN_WITHIN_MS);
    },
    untilReplicated: async (count) => {
      await sees(ask, `${count} replicas`, (snapshot) => snapshot.replicas >= count);
    },
    stop: async () => {
      for (const one of all) one.disconnect();
      await Promise.all([...guards.map((guard) => guard.end()), ...servers.map((one) => one.stop())]);
    },
  };
  await stage.untilReplicated(2);
  await sees(ask, 'each other', ({ sentinels }) => sentinels === 3);
  return stage;
}

/** They look at a server every ten seconds only, and what they find may be a server that isn't ready. */
const SEEN_WITHIN_MS = 60_000;

/** On a busy machine an answer may not come in time, and the next one does as well. */
async function sees(sentinel: Redis, what: string, isThat: (snapshot: SentinelSnapshot) => boolean): Promise<void> {
  await until(`the sentinels see ${what}`, () => seen(sentinel).then(isThat, () => false), SEEN_WITHIN_MS);
}

interface SentinelSnapshot {
  readonly sentinels: number;
  readonly replicas: number;
}

/** A failover needs sentinels that know each other, and replicas whose link they have seen up. */
async function seen(sentinel: Redis): Promise<SentinelSnapshot> {
  const others = pairs(await sentinel.call('SENTINEL', 'SENTINELS', PRIMARY_NAME));
  const replicas = pairs(await sentinel.call('SENTINEL', 'REPLICAS', PRIMARY_NAME));
  const linked = replicas.filter((one) => one.get('master-link-status') === 'ok' && one.get('flags') === 'slave');
  return { sentinels: 1 + others.filter((one) => one.get('flags') === 'sentinel').length, replicas: linked.length };
}

/** Whoever doubts the primary, or is about to replace it, says so in its flags. */
async function agree(sentinels: readonly Redis[]): Promise<boolean> {
  const named = await Promise.all(
    sentinels.map(async (one) => pairs([await one.call('SENTINEL', 'MASTER', PRIMARY_NAME)])),
  );
  const [first, ...others] = named.map(([primary]) => `${primary?.get('port')} ${primary?.get('flags')}`);
  return first?.endsWith(' master') === true && others.every((other) => other === first);
}

function pairs(reply: unknown): Map<string, string>[] {
  return (reply as string[][]).map(
    (flat) => new Map(flat.flatMap((word, n) => (n % 2 === 0 ? [[word, flat[n + 1] ?? '']] : []))),
  );
}

async function startSentinel(watched: number): Promise<ServerProcess & { readonly port: number }> {
  const port = await freePort();
  const cwd = serverFolder('test-sentinel-');
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
