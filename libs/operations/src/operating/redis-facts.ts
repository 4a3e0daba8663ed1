import type { Clock } from '@fencepost/lease';
import { redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import { judgeHistory, readServers, type History, type ServerFacts } from '@fencepost/lease/internal/redis-checks';
import type { RedisClient } from '@fencepost/lease/redis';
import { MAX_OVERDUE, OVERDUE_MS, readQueueLimits } from '@fencepost/jobs/internal';
import type { HistoryChange, LateCron, RedisFacts } from './doctor-facts.js';

export interface RedisFactsOptions extends KeySpace {
  readonly redis: RedisClient;
  readonly clock: Clock;
}

/** Who asks pods to look at a cron announces a time long past: no cron is overdue since then. */
const EARLIEST_DUE = 86_400_000;
/** A change is told for a week. */
const KEPT_MS = 30 * 86_400_000;

/**
 * What Redis says of itself and of the crons, for {@link Doctor}.
 *
 * It notes which process with which history answered, so that the next examination knows whether it is still the same one.
 * @throws what the connection throws
 */
export async function readRedisFacts({ redis, clock, ...space }: RedisFactsOptions): Promise<RedisFacts> {
  const key = redisKeys(space);
  const [servers, time, queues] = await Promise.all([
    readServers(redis, clock),
    redis.time(),
    readQueueLimits({ redis, ...space }),
  ]);
  const now = Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000);
  const [late, changes] = await Promise.all([
    lateCrons(redis, key('catalog', 'due'), now),
    compared(redis, key('catalog', 'examined'), { servers, now }),
  ]);
  return { servers, changes, late, queues };
}

async function lateCrons(redis: RedisClient, key: string, now: number): Promise<LateCron[]> {
  const flat = await redis.zrangebyscore(key, EARLIEST_DUE, now - OVERDUE_MS, 'WITHSCORES', 'LIMIT', 0, MAX_OVERDUE);
  return Array.from({ length: flat.length / 2 }, (_, n) => ({
    cron: flat[2 * n] ?? '',
    overdueMs: now - Number(flat[2 * n + 1]),
  }));
}

interface Seen {
  readonly history: History;
  readonly changes: readonly HistoryChange[];
}

interface Examined {
  readonly servers: readonly ServerFacts[];
  readonly now: number;
}

async function compared(redis: RedisClient, key: string, { servers, now }: Examined): Promise<HistoryChange[]> {
  const known = Object.values(await redis.hgetall(key)).flatMap(seenOf);
  const seen = servers.map((server): Seen => {
    const before = ancestorOf(server, known);
    const change = before && judgeHistory(before.history, server);
    const { address } = server;
    const fresh = change ? [{ address, code: change.code, text: change.message, at: now }] : [];
    const kept = (before?.changes ?? []).filter(({ at }) => now - at <= KEPT_MS).slice(-10);
    return { history: historyOf(server), changes: [...kept, ...fresh] };
  });
  if (seen.length > 0) {
    await redis.hset(key, Object.fromEntries(seen.map((one) => [one.history.address, JSON.stringify(one)])));
  }
  return seen.flatMap(({ changes }) => changes);
}

/** A replica that was promoted answers elsewhere than the primary whose history it goes on with. */
function ancestorOf(server: ServerFacts, known: readonly Seen[]): Seen | undefined {
  return (
    known.find(({ history }) => history.address === server.address) ??
    known.find(({ history }) => history.replicationId === server.formerReplicationId)
  );
}

function historyOf({ address, role, runId, replicationId, formerReplicationId, appendOnly }: ServerFacts): History {
  return { address, role, runId, replicationId, formerReplicationId, appendOnly };
}

function seenOf(text: string): Seen[] {
  try {
    return [JSON.parse(text) as Seen];
  } catch {
    // Somebody else's: without it this is the first examination.
    return [];
  }
}
