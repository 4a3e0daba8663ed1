import type { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { closeRedis, connectRedis, RedisLeaseStore } from '@fencepost/lease/redis';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { RedisMembership } from '@fencepost/jobs/internal';
import { SchedulerPod } from '@fencepost/jobs/internal/scheduling';
import { Telemetry } from '@fencepost/jobs';
import { MemoryRunQueue } from '@fencepost/testing';
import { monitorOf } from '../support/monitor.js';
import { freshPrefix, privateRedis } from '../support/redis.js';
import { definition } from '../support/scheduler-stage.js';

const PODS = 10;
const CRONS = 1_000;
/**
 * While each pod beats once, all pods together, inside Redis: those that scripts call included. The pods send less than half of them: a
 * script is a command more inside, and saves three on the way.
 */
const MAX_COMMANDS = 55;
/** Two renewals of every lease, and a little more. */
const ROUNDS = 7;

const cleanup: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).toReversed()) await step();
});

/** A server of its own: somebody else's commands would be counted too. */
async function server() {
  const redis = await privateRedis();
  cleanup.push(() => redis.stop());
  const connect = async (name: string): Promise<Redis> => {
    const client = await connectRedis({ url: redis.url, commandTimeoutMs: 5_000, name });
    cleanup.push(() => closeRedis(client));
    return client;
  };
  return { url: redis.url, connect, space: { prefix: freshPrefix(), tenant: 'default' } };
}

type Server = Awaited<ReturnType<typeof server>>;

/** A scheduler pod with a connection of its own, as if it were alone in its process. */
async function podOn({ connect, space }: Server, name: string): Promise<SchedulerPod> {
  const redis = await connect(name);
  const at = { redis, ...space };
  const leases = new RedisLeaseStore({ ...at, kind: 'cron' });
  const keeper = new LeaseKeeper({ store: leases, holder: `${name}/1` });
  const stores = {
    leases,
    keeper,
    ledger: new RedisLedger(at),
    catalog: new RedisCatalog(at),
    queue: new MemoryRunQueue(),
  };
  const times = { ttlMs: 10_000, sweepEveryMs: 500, lookAgainMs: 10_000, keepRuns: 1_000 };
  return new SchedulerPod({
    ...{ ...stores, ...times, membership: new RedisMembership(at) },
    ...{ clock: systemClock, telemetry: new Telemetry(), random: Math.random },
  });
}

/** All that the server carries out. */
async function commandsOn({ url }: Server): Promise<string[]> {
  const commands: string[] = [];
  const end = await monitorOf(url, (words) => commands.push(words.join(' ')));
  cleanup.push(async () => end());
  return commands;
}

describe('ten scheduler pods that hold a thousand idle crons', () => {
  it('cost Redis at most fifty-five commands while each is heard once, in all', { timeout: 90_000 }, async () => {
    const on = await server();
    const catalog = new RedisCatalog({ redis: await on.connect('declarer'), ...on.space });
    const declarations = Array.from({ length: CRONS }, (_, n) => {
      return { definition: definition({ name: `cron-${n}`, expression: '0 0 1 6 *' }), disabled: false };
    });
    await catalog.declare(declarations, { revision: 1, app: 'test' });
    const commands = await commandsOn(on);
    const pods = await Promise.all(Array.from({ length: PODS }, (_, n) => podOn(on, `pod-${n}`)));
    cleanup.push(() => Promise.all(pods.map((pod) => pod.stop())));
    await Promise.all(pods.map((pod) => pod.start()));
    const held = () => pods.map(({ engine }) => engine.size);
    await expect.poll(() => held().reduce((sum, size) => sum + size), { timeout: 20_000 }).toBe(CRONS);
    await expect.poll(() => Math.max(...held()), { timeout: 20_000 }).toBeLessThan((2 * CRONS) / PODS);

    // What they took over is looked through once; what comes after that stays. A pod beats once a second.
    const beatsAmong = (last: number) =>
      commands.slice(-last).filter((command) => /^xadd .*:heartbeats /i.test(command)).length;
    const beats = () => beatsAmong(ROUNDS * MAX_COMMANDS);
    await expect.poll(beats, { timeout: 40_000, interval: 200 }).toBeGreaterThanOrEqual(ROUNDS * PODS);
    expect(held().reduce((sum, size) => sum + size)).toBe(CRONS);
  });
});
