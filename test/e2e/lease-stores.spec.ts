import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@fencepost/lease';
import { openLeaseStore, type OwnedLeaseStore } from '@fencepost/lease/internal/place';
import { useDeployment, type Deployment } from '../support/deployment.js';
import { privateEtcd, type PrivateEtcd } from '../support/etcd.js';
import { fencepost } from '../support/fencepost.js';
import type { Pod } from '../support/pod.js';
import { readMetrics, valueOf } from '../support/prometheus-text.js';
import { until } from '../support/until.js';
import { servers, type Servers } from '../lease/quorum-redis.js';
import { accountFor, type Account } from './instants.js';

const TICK = { CRONS: 'tick' };
const TTL_MS = 2_000;
/** A pod that has no lease has said so after this; what it may still do then, a machine under load does a little later. */
const GONE_MS = 2 * TTL_MS;

/** The store where the crons' leases should be, seen from outside. */
async function lookAt(leases: string, deployment: Deployment): Promise<OwnedLeaseStore> {
  const space = { prefix: deployment.prefix, tenant: 'default', kind: 'cron' } as const;
  return openLeaseStore(leases, { ...space, ttlMs: TTL_MS, clock: systemClock, observe: () => {} });
}

async function startPods({ pods }: Deployment, leases: string): Promise<readonly Pod[]> {
  const env = { FENCEPOST_LEASES: leases };
  const [, ...schedulers] = await Promise.all([
    pods.worker('w1', { env: { ...env, ...TICK } }),
    pods.scheduler('s1', { env }),
    pods.scheduler('s2', { env }),
  ]);
  return schedulers;
}

const moreRuns = async (deployment: Deployment, more: number) => {
  const { length: before } = await deployment.runsOf('tick');
  await until(`${more} more runs`, async () => (await deployment.runsOf('tick')).length >= before + more);
};

/** Ends the pods, and holds what they have done against the clock and the sink. */
async function endOf(deployment: Deployment, schedulers: readonly Pod[]): Promise<Account> {
  const { pods, stores } = deployment;
  await Promise.all(schedulers.filter(({ isAlive }) => isAlive).map((pod) => pod.terminate()));
  await deployment.settled('tick');
  await pods.terminateAll();
  const runs = await deployment.runsOf('tick');
  const skips = await stores.ledger.skips('tick', 1_000);
  expect((await deployment.written()).toSorted()).toEqual(runs.map(({ id }) => `${id}/write`));
  expect(await stores.leases.inspect(['tick'])).toEqual([null]);
  return accountFor({ runs, skips }, 1_000);
}

/** Kills the scheduler that holds the cron by the store's word, and waits until the other one holds it. */
async function killHolder({ store }: OwnedLeaseStore, schedulers: readonly Pod[]): Promise<void> {
  const holder = async () => (await store.inspect(['tick']))[0]?.holder.split('/')[0];
  const killed = await until('somebody holds the cron', holder);
  await schedulers.find(({ name }) => name === killed)!.kill();
  await until('another pod holds the cron', async () => ![killed, undefined].includes(await holder()));
}

describe('scheduler pods with the leases of crons on a quorum of three', () => {
  const deployment = useDeployment({ FENCEPOST_LEASE_TTL: `${TTL_MS}ms` });
  let nodes: Servers;
  beforeAll(async () => {
    nodes = await servers(3);
  });
  afterAll(() => nodes.stop());

  const isLeftOut = ({ node, leftOutBy }: Record<string, unknown>, name: string) =>
    node === name && (leftOutBy as readonly string[]).length > 0;

  const asked = (leases: string, ...args: string[]) => {
    const { host, port } = (deployment.stores.redis as Redis).options;
    const env = { REDIS_URL: `redis://${host}:${port}`, FENCEPOST_PREFIX: deployment.prefix, FENCEPOST_LEASES: leases };
    return fencepost(args, { env });
  };

  const healthOf = async (pod: Pod) => {
    const page = readMetrics(await (await fetch(`${pod.url}/metrics`)).text());
    return nodes.all.map(({ port }) => valueOf(page, 'fencepost_lease_node_health', { node: `127.0.0.1:${port}` }));
  };

  it('go on without one node and without a holder, claim nothing without two, and go on when they are back', async () => {
    const leases = `quorum:${nodes.urls.join(',')}`;
    const schedulers = await startPods(deployment, leases);
    const seen = await lookAt(leases, deployment);
    await moreRuns(deployment, 2);
    // One that holds nothing has asked no server yet, and says nothing of them.
    const seenBy = await Promise.all(schedulers.map(healthOf));
    expect(seenBy).toContainEqual([1, 1, 1]);

    const [first, second] = nodes.all;
    await first!.stop();
    await killHolder(seen, schedulers);
    await moreRuns(deployment, 2);
    const survivor = schedulers.find(({ isAlive }) => isAlive)!;
    await until('the node is left out', async () => (await healthOf(survivor))[0] === 0);
    const gone = `127.0.0.1:${first!.port}`;
    await until('the command line says so', async () => {
      const { json } = await asked(leases, 'leases', '--json');
      const { held, nodes: told } = json as Record<'held' | 'nodes', Record<string, unknown>[]>;
      return held[0]?.['cron'] === 'tick' && told.length === 3 && told.some((one) => isLeftOut(one, gone));
    });
    const elsewhere = await asked('redis', 'leases', '--json');
    expect([elsewhere.code, elsewhere.out]).toEqual([2, '']);
    expect(elsewhere.err).toContain(`where the scheduler pods keep the leases of crons, quorum:redis://127.0.0.1:`);

    await second!.stop();
    await survivor.waitFor('lease_lost');
    const { length: before } = await deployment.runsOf('tick');
    await new Promise((resolve) => setTimeout(resolve, GONE_MS));
    expect(await deployment.runsOf('tick')).toHaveLength(before);

    await Promise.all([first, second].map((node) => node!.restartEmpty()));
    await moreRuns(deployment, 2);
    await seen.close();
    expect(await endOf(deployment, schedulers)).toEqual({ lost: [], twice: [] });
  }, 120_000);
});

describe('scheduler pods with the leases of crons in etcd', () => {
  const deployment = useDeployment({ FENCEPOST_LEASE_TTL: `${TTL_MS}ms` });
  let etcd: PrivateEtcd;
  beforeAll(async () => {
    etcd = await privateEtcd();
  });
  afterAll(() => etcd.stop());

  it('take over from a pod that died, and go on after etcd was away', async () => {
    const leases = `etcd:${etcd.endpoint}`;
    const schedulers = await startPods(deployment, leases);
    const seen = await lookAt(leases, deployment);
    await moreRuns(deployment, 2);
    await killHolder(seen, schedulers);
    await moreRuns(deployment, 1);
    await etcd.kill();
    await schedulers.find(({ isAlive }) => isAlive)!.waitFor('lease_lost');
    await etcd.start();
    await moreRuns(deployment, 2);
    await seen.close();
    expect(await endOf(deployment, schedulers)).toEqual({ lost: [], twice: [] });
  }, 120_000);

  it('are refused at boot with one sentence for a place that is none', async () => {
    const pod = deployment.pods.spawnScheduler('s1', { env: { FENCEPOST_LEASES: `etcd2:${etcd.endpoint}` } });
    expect((await pod.exited).code).toBe(1);
    expect(pod.allLines()).toContain(
      'Expected the leases to be in "redis", in "postgres", or in quorum or etcd or zookeeper or consul with its addresses',
    );
  });
});
