import type { RedisTarget } from '@fencepost/lease/redis';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { privateCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { freshPrefix, type PrivateRedis } from '../support/redis.js';
import { PRIMARY_NAME, sentinelStage } from '../support/sentinel.js';
import { until } from '../support/until.js';
import { expectEachInstantOnce, moreRuns, startPods } from './rotation.stage.js';

const PODS = 2;

/** A user whom servers know without telling one another, as Redis keeps its users. */
async function appUser(servers: readonly PrivateRedis[]) {
  const admins = servers.map(({ url }) => new Redis(url));
  for (const admin of admins) admin.on('error', () => {});
  onTestFinished(() => admins.forEach((admin) => admin.disconnect()));
  let password = 'p1';
  const everywhere = (...rules: string[]) =>
    Promise.all(admins.map((admin) => admin.call('ACL', 'SETUSER', 'app', ...rules)));
  await everywhere('on', '~*', '&*', '+@all', '>p1');
  return {
    credentials: async () => ({ username: 'app', password }),
    /** Open connections stay, and no server takes the old password for a new one. */
    rotateServers: () => everywhere('resetpass', '>p2'),
    /** As a mounted secret that the pods see later than the servers. */
    rotatePods: () => void (password = 'p2'),
    /** How often servers have refused a password. */
    refused: async () => {
      const logs = (await Promise.all(admins.map((admin) => admin.call('ACL', 'LOG')))) as unknown[][][];
      const entries = logs.flat().filter((entry) => entry.includes('auth'));
      return entries.reduce((sum, entry) => sum + Number(entry[1]), 0);
    },
  };
}

/** Which users the connections of pods to this server have. */
async function usersAt({ url }: PrivateRedis): Promise<Set<string>> {
  const admin = new Redis(url);
  const clients = String(await admin.client('LIST'));
  admin.disconnect();
  const ours = clients.split('\n').filter((line) => / name=fencepost/.test(line));
  return new Set(ours.map((line) => / user=(\S+)/.exec(line)?.[1] ?? ''));
}

async function pubsubClients({ nodes }: PrivateCluster): Promise<string[]> {
  const lists = await Promise.all(nodes.map(({ redis }) => redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub')));
  return lists.flatMap((list) => String(list).split('\n')).filter((line) => line.includes(' user=app '));
}

const startTicking = (redis: RedisTarget, over = {}) =>
  startPods(PODS, { redis, prefix: freshPrefix(), tenant: 'default', ...over });

it(
  'loses no run and repeats none when the password changes on servers of Sentinel and then the primary',
  { timeout: 150_000 },
  async () => {
    const stage = await sentinelStage();
    onTestFinished(() => stage.stop());
    const { credentials, rotateServers, rotatePods } = await appUser(stage.servers);
    const sentinel = { sentinels: stage.sentinels, name: PRIMARY_NAME };
    // Both, because either may be chosen, and each instant is asked for below.
    const pods = await startTicking({ sentinel, credentials }, { waitReplicas: 2 });
    await moreRuns(2);

    await rotateServers();
    rotatePods();
    await moreRuns(1);
    const before = await stage.primary();
    await stage.failover();
    const chosen = async () => (await stage.primary()).port !== before.port;
    await until('the sentinels have chosen another', chosen);
    await moreRuns(3);
    expect(await usersAt(await stage.primary())).toEqual(new Set(['app']));
    await expectEachInstantOnce(pods);
  },
);

it(
  'loses no run and repeats none when the password changes on the nodes of a cluster and then the owners of slots',
  { timeout: 150_000 },
  async () => {
    const cluster = await privateCluster(1_000);
    onTestFinished(() => cluster.stop());
    const { credentials, rotateServers, rotatePods, refused } = await appUser(
      cluster.nodes.map(({ server }) => server),
    );
    const pods = await startTicking({ cluster: cluster.urls, credentials });
    await moreRuns(2);

    const subscribed = async () => (await pubsubClients(cluster)).length;
    const before = await subscribed();
    expect(before).toBeGreaterThanOrEqual(PODS);

    await rotateServers();
    for (const { redis } of cluster.nodes) await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await expect.poll(refused, { timeout: 10_000 }).toBeGreaterThanOrEqual(before);
    await moreRuns(1);
    rotatePods();
    await expect.poll(subscribed, { timeout: 10_000 }).toBe(before);
    const replicas = cluster.nodes.slice(cluster.nodes.length / 2);
    for (const { redis } of replicas) {
      // Whoever goes on here connects anew.
      await redis.client('KILL', 'USER', 'app');
      await redis.cluster('FAILOVER');
      await until('the replica owns the slots', async () => (await redis.info('replication')).includes('role:master'));
    }
    await moreRuns(3);
    for (const { server } of replicas) expect(await usersAt(server)).toEqual(new Set(['app']));
    await expectEachInstantOnce(pods);
  },
);
