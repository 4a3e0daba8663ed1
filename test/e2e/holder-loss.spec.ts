import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FailPoint } from '../pods/fail-point.js';
import { useDeployment, type Deployment } from '../support/deployment.js';
import { accountFor } from './instants.js';
import type { Pod } from '../support/pod.js';
import { until } from '../support/until.js';

const TICK = { env: { CRONS: 'tick' } };
const STEPS = { env: { CRONS: 'steps' } };
/** What a pod may take, on a busy machine, from the moment a lease is free until it has it. */
const SLACK_MS = 1_000;

async function holder(deployment: Deployment, cron: string, schedulers: readonly Pod[]): Promise<Pod> {
  const name = await deployment.homeOf(cron, schedulers.length);
  const found = schedulers.find((pod) => pod.name === name);
  if (!found) throw new Error(`Expected one of the schedulers to hold ${cron}, ${name} does.`);
  return found;
}

async function runsAfter(deployment: Deployment, cron: string, count: number): Promise<void> {
  const before = (await deployment.runsOf(cron)).length;
  await until(`${cron} has ${count} more runs`, async () => (await deployment.runsOf(cron)).length >= before + count);
}

describe('a scheduler that is killed while it holds a cron', () => {
  // Two thirds of it are left at least: whoever fires the next instants has not waited for the end of the lease.
  const ttlMs = 20_000;
  const deployment = useDeployment({ FENCEPOST_LEASE_TTL: `${ttlMs}ms` });

  it('is followed by another one long before the lease runs out, and no instant is lost or runs twice', async () => {
    const { pods, stores } = deployment;
    const [, ...schedulers] = await Promise.all([
      pods.worker('w1', TICK),
      pods.scheduler('s1'),
      pods.scheduler('s2'),
      pods.scheduler('s3'),
    ]);
    await runsAfter(deployment, 'tick', 2);

    const killed = await holder(deployment, 'tick', schedulers);
    const other = deployment.otherHolderOf('tick', killed.name);
    await killed.kill();
    expect((await other).tookMs).toBeLessThan((ttlMs * 2) / 3 - SLACK_MS);
    const survivors = schedulers.filter((pod) => pod.isAlive);
    expect(survivors.flatMap((pod) => pod.eventsOf('lease_preempted'))).toMatchObject([{ cron: 'tick' }]);
    await runsAfter(deployment, 'tick', 3);
    await Promise.all(survivors.map((pod) => pod.terminate()));
    await deployment.settled('tick');
    await pods.terminateAll();

    const runs = await deployment.runsOf('tick');
    const skips = await stores.ledger.skips('tick', 1_000);
    expect(accountFor({ runs, skips }, 1_000)).toEqual({ lost: [], twice: [] });
    expect(new Set(runs.map(({ claimedBy }) => claimedBy)).size).toBeGreaterThan(1);
    expect(runs.map(({ state }) => state)).toEqual(runs.map(() => 'succeeded'));
    expect((await deployment.written()).toSorted()).toEqual(runs.map(({ id }) => `${id}/write`));
  });
});

describe('an instant at which nobody holds the cron', () => {
  const deployment = useDeployment({ FENCEPOST_LEASE_TTL: '2s' });

  it('runs late, and once', async () => {
    const { pods } = deployment;
    const [, ...schedulers] = await Promise.all([pods.worker('w1', STEPS), pods.scheduler('s1'), pods.scheduler('s2')]);
    const instant = await deployment.fireOnce('steps', 1_000);
    const killed = await holder(deployment, 'steps', schedulers);
    // The lease was renewed within the last third of its ttl, so it outlives the instant by a second.
    await wait(instant - 300 - Date.now());
    await killed.kill();

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ scheduledAt: instant, state: 'succeeded', attempt: 1 });
    expect(run.claimedBy).not.toMatch(new RegExp(`^${killed.name}/`));
    expect(run.claimedAt).toBeGreaterThan(instant + 500);
    expect(await deployment.effectsOf(run.id)).toEqual(['first', 'second', 'third']);
    await pods.terminateAll();
  });
});

describe('a scheduler that is asked to stop while it holds a cron', () => {
  const deployment = useDeployment({ FENCEPOST_LEASE_TTL: '10s' });

  it('hands it over within 200 ms, and is gone before its drain deadline', async () => {
    const { pods } = deployment;
    const [, ...schedulers] = await Promise.all([
      pods.worker('w1', TICK),
      pods.scheduler('s1'),
      pods.scheduler('s2'),
      pods.scheduler('s3'),
    ]);
    await runsAfter(deployment, 'tick', 1);

    const stopped = await holder(deployment, 'tick', schedulers);
    const other = deployment.otherHolderOf('tick', stopped.name);
    const exit = await stopped.terminate();
    expect((await other).tookMs).toBeLessThan(200);
    expect(stopped.eventsOf('lease_released')).toHaveLength(1);
    expect(exit).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(exit.tookMs).toBeLessThan(5_000);
    await runsAfter(deployment, 'tick', 1);
    await pods.terminateAll();
  });
});

describe('a scheduler that freezes just before a claim, and wakes up after another pod has taken over', () => {
  const deployment = useDeployment();

  it('is refused by the ledger, which has one run an instant', async () => {
    const { pods, stores } = deployment;
    const failPoint: FailPoint = { event: 'occurrence.claiming', action: 'freeze', nth: 3 };
    const [, frozen] = await Promise.all([pods.worker('w1', TICK), pods.scheduler('s1', { failPoint })]);
    await frozen.waitFor('fail_point');
    expect(await deployment.holderOf('tick')).toBe('s1');

    const successor = await pods.scheduler('s2');
    await successor.waitFor('occurrence_claimed');
    const before = await stores.ledger.readCron('tick');
    frozen.thaw();
    const refused = await frozen.waitFor('claim_stale');
    expect(refused).toMatchObject({ cron: 'tick' });
    expect(Number(refused['fence'])).toBeLessThan(before.fence);
    expect((await stores.ledger.readCron('tick')).refusals).toBeGreaterThan(before.refusals);

    await runsAfter(deployment, 'tick', 2);
    await Promise.all([frozen, successor].map((pod) => pod.terminate()));
    await deployment.settled('tick');
    await pods.terminateAll();
    const runs = await deployment.runsOf('tick');
    const skips = await stores.ledger.skips('tick', 1_000);
    expect(accountFor({ runs, skips }, 1_000)).toEqual({ lost: [], twice: [] });
    expect((await deployment.written()).toSorted()).toEqual(runs.map(({ id }) => `${id}/write`));
  });
});
