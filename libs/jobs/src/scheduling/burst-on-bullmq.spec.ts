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
import { SLICE } from './due-slices.js';
import { preciseTimer } from './precise-timer.js';
import { SchedulerPod } from './scheduler-pod.js';

const BURST = isLong ? 20_000 : 2_000;
/** Long enough to declare and acquire them. */
const SETUP_MS = isLong ? 60_000 : 8_000;
const OTHERS = 20;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function connection(url: string): Promise<RedisClient> {
  const redis = await connectRedis({ url, commandTimeoutMs: 10_000, name: 'test' });
  closing.push(() => closeRedis(redis));
  return redis;
}

interface Claim {
  readonly cron: string;
  readonly lateByMs: number;
  readonly at: number;
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
  const seen = { claims: [] as Claim[], confirmed: [] as string[] };
  telemetry.listen((event, detail) => {
    if (event === 'occurrence.claimed') {
      const { cron, lateByMs } = detail as Events['occurrence.claimed'];
      seen.claims.push({ cron, lateByMs, at: Date.now() });
    } else if (event === 'run.confirmed') seen.confirmed.push((detail as Events['run.confirmed']).runId);
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

it(`${BURST} crons of one instant are each enqueued once, and the instants of others pass them`, async () => {
  const server = await privateRedis({ 'maxmemory-policy': 'noeviction' });
  closing.push(() => server.stop());
  const prefix = freshPrefix();
  const catalog = new RedisCatalog({ redis: await connection(server.url), prefix, tenant: 'default' });
  const { instant, declarations } = declared();
  await catalog.declare(declarations, { app: 'test', revision: 1 });
  const pods = await Promise.all(['a', 'b', 'c'].map((name) => started(name, server.url, prefix)));
  const isReady = () => {
    const held = pods.flatMap(({ pod: { engine } }) => engine.heldNames().map((name) => engine.held(name)));
    return held.length === declarations.length && held.every((one) => one?.known);
  };
  await until('the pods know all crons', async () => isReady(), SETUP_MS);
  expect(Date.now()).toBeLessThan(instant);
  const confirmed = () => pods.flatMap(({ seen }) => seen.confirmed);
  const burst = () => confirmed().filter((runId) => runId.endsWith(`@${instant}`));
  await until('the burst is enqueued', async () => burst().length >= BURST, instant - Date.now() + 60_000);
  await until('all have fired', async () => confirmed().length === declarations.length);
  expect(confirmed().toSorted()).toEqual([...new Set(confirmed())].toSorted());
  const claims = pods.flatMap(({ seen }) => seen.claims);
  expect(new Set(claims.map(({ cron }) => cron)).size).toBe(declarations.length);
  const passed = pods.flatMap(({ seen }) => othersIn(seen.claims).map((claim) => passedBy(claim, seen.claims)));
  // Two slices in progress, and the one that it joins.
  expect(passed).toHaveLength(OTHERS);
  expect(Math.max(...passed)).toBeLessThanOrEqual(3 * SLICE);
}, 240_000);

function othersIn(claims: readonly Claim[]): Claim[] {
  return claims.filter(({ cron }) => cron.startsWith('other-'));
}

/** How many crons of the burst were claimed by the same pod while this one, already due, was waiting. */
function passedBy({ at, lateByMs }: Claim, claims: readonly Claim[]): number {
  return claims.filter((one) => one.cron.startsWith('cron-') && one.at > at - lateByMs && one.at < at).length;
}
