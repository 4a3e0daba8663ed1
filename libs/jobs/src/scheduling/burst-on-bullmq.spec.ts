import { systemClock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { closeRedis, connectRedis, RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { afterEach, expect, it } from 'vitest';
import { onlyAt } from '../../../../test/support/deployment.js';
import { freshPrefix, privateRedis } from '../../../../test/support/redis.js';
import { isLong } from '../../../../test/support/run-length.js';
import { definition } from '../../../../test/support/scheduler-stage.js';
import { until } from '../../../../test/support/until.js';
import { RedisMembership } from '../membership/redis-membership.js';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import type { Events } from '../telemetry/events.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { preciseTimer } from './precise-timer.js';
import { SchedulerPod } from './scheduler-pod.js';

const BURST = isLong ? 20_000 : 2_000;
/** Long enough to declare and acquire them. */
const SETUP_MS = isLong ? 60_000 : 12_000;
const OTHERS = 20;
const WITHIN_MS = 10_000;
const LATE_MS = 1_000;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function connection(url: string): Promise<RedisClient> {
  const redis = await connectRedis({ url, commandTimeoutMs: 10_000, name: 'test' });
  closing.push(() => closeRedis(redis));
  return redis;
}

/** A scheduler pod over stores of its own, as in a process of its own. */
async function started(name: string, url: string, prefix: string) {
  const space = { redis: await connection(url), prefix, tenant: 'default' };
  const [clock, telemetry] = [systemClock, new Telemetry()];
  const leases = new RedisLeaseStore({ ...space, kind: 'cron' });
  const queue = await BullmqRunQueue.open({ ...space, onTrouble: () => {} });
  closing.push(() => queue.close());
  const pod = new SchedulerPod({
    ...{
      ledger: new RedisLedger(space),
      queue,
      catalog: new RedisCatalog(space),
      membership: new RedisMembership(space),
    },
    ...{ leases, keeper: new LeaseKeeper({ store: leases, clock, holder: `${name}/1` }), clock, telemetry },
    ...{ instants: preciseTimer(clock), random: Math.random },
    ...{ ttlMs: 10_000, sweepEveryMs: 5_000, lookAgainMs: 10_000, keepRuns: 1_000 },
  });
  const seen = { late: new Map<string, number>(), confirmed: new Set<string>(), behind: 0 };
  telemetry.listen((event, detail) => {
    if (event === 'occurrence.claimed') {
      const { runId, lateByMs } = detail as Events['occurrence.claimed'];
      seen.late.set(runId, lateByMs);
    } else if (event === 'run.confirmed') seen.confirmed.add((detail as Events['run.confirmed']).runId);
    else if (event === 'pod.behind') seen.behind += 1;
  });
  closing.push(() => pod.stop());
  await pod.start();
  return { pod, seen };
}

/** Crons that all fire at one instant, and others, each of which fires in one of the seconds after it. */
function declared() {
  const { instant, expression } = onlyAt(Date.now() + SETUP_MS);
  const burst = Array.from({ length: BURST }, (_, n) => ({ name: `cron-${n}`, expression }));
  const others = Array.from({ length: OTHERS }, (_, n) => {
    return { name: `other-${n}`, expression: onlyAt(instant + 1_000 * (1 + (n % 4))).expression };
  });
  const declarations = [...burst, ...others].map((over) => ({ definition: definition(over), disabled: false }));
  return { instant, declarations };
}

it(`${BURST} crons of one instant are all enqueued within 10 s, and the instants of others are late by less than a second`, async () => {
  const server = await privateRedis({ 'maxmemory-policy': 'noeviction' });
  closing.push(() => server.stop());
  const prefix = freshPrefix();
  const catalog = new RedisCatalog({ redis: await connection(server.url), prefix, tenant: 'default' });
  const { instant, declarations } = declared();
  await catalog.declare(declarations, { seq: 1, source: 'test' });
  const pods = await Promise.all(['a', 'b', 'c'].map((name) => started(name, server.url, prefix)));
  const isReady = () => {
    const held = pods.flatMap(({ pod: { engine } }) => engine.heldNames().map((name) => engine.held(name)));
    return held.length === declarations.length && held.every((one) => one?.known);
  };
  await until('the pods know all crons', async () => isReady(), SETUP_MS);
  expect(Date.now()).toBeLessThan(instant);
  const confirmed = () => pods.flatMap(({ seen }) => [...seen.confirmed]);
  const burst = () => confirmed().filter((runId) => runId.endsWith(`@${instant}`));
  await until('the burst is enqueued', async () => burst().length >= BURST, instant - Date.now() + 60_000);
  const tookMs = Date.now() - instant;
  await until('all have fired', async () => confirmed().length === declarations.length);
  const late = pods
    .flatMap(({ seen }) => [...seen.late])
    .flatMap(([runId, ms]) => (runId.startsWith('other') ? [ms] : []));
  console.log({
    BURST,
    tookMs,
    behind: pods.map(({ seen }) => seen.behind),
    late: late.toSorted((x, y) => x - y).join(' '),
  });
  expect(new Set(confirmed()).size).toBe(declarations.length);
  expect(tookMs).toBeLessThan(WITHIN_MS);
  expect([late.length, Math.max(...late) < LATE_MS]).toEqual([OTHERS, true]);
}, 240_000);
