import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis, NotReplicatedError, type RedisClient } from '@fencepost/lease/redis';
import { commandTimeoutOf, copyOf } from '../../libs/jobs/src/nest/redis-copy.js';
import { RedisLedger } from '../../libs/ledger/src/redis/redis-ledger.js';
import { Stage } from '../../libs/testing/src/ledger-contract/stage.js';
import { privateCluster, type PrivateCluster } from '../support/redis-cluster.js';

const SPACE = { prefix: 'waiting', tenant: 'default' };
const CRONS = Array.from({ length: 30 }, (_, n) => `cron-${n}`);

let cluster: PrivateCluster;
let redis: Cluster;
let waiting: RedisClient;
beforeAll(async () => {
  cluster = await privateCluster(60_000);
  redis = await connectRedis({ cluster: cluster.urls, commandTimeoutMs: 5_000, name: 'test' });
  waiting = copyOf(redis, { name: 'test-waiting', commandTimeoutMs: commandTimeoutOf(redis), patienceMs: 4_000 });
}, 60_000);
afterAll(async () => {
  await Promise.all([closeRedis(waiting), closeRedis(redis)]);
  await cluster.stop();
});

/** Which of the three primaries owns the keys of a cron. */
async function ownerOf(cron: string): Promise<number> {
  const slot = await redis.cluster('KEYSLOT', redisKeys(SPACE)(cron, 'cron'));
  return Math.floor((3 * (slot + 1)) / 16_385);
}

function ledgerThatWaits(timeoutMs: number): RedisLedger {
  return new RedisLedger({ redis, ...SPACE, replication: { redis: waiting, replicas: 1, timeoutMs } });
}

function stageOf(ledger: RedisLedger): Promise<Stage> {
  return Stage.of(async () => ({
    ledger,
    cron: 'cron-0',
    now: async () => Date.now(),
    advance: () => Promise.reject(new Error('Nothing has to pass here.')),
    clockGoesBack: () => Promise.reject(new Error('Nothing goes back here.')),
  }));
}

describe('a ledger on a cluster that waits for replicas', () => {
  it('waits at the node that owns the keys: only what its replica does not have is refused', async () => {
    const ledger = ledgerThatWaits(commandTimeoutOf(redis) / 2);
    const stage = await stageOf(ledger);
    const claimAll = async (n: number) => {
      const request = await stage.request(n);
      return ledger.claimAll(CRONS.map((cron) => ({ ...request, cron })));
    };
    expect((await claimAll(1)).map(({ status }) => status)).toEqual(CRONS.map(() => 'fulfilled'));

    // The replica of the second primary, which goes on by itself.
    cluster.nodes[4]!.server.freeze();
    const owners = await Promise.all(CRONS.map(ownerOf));
    expect(new Set(owners).size).toBe(3);
    const settled = await claimAll(2);
    expect(settled.map(({ status }) => status)).toEqual(
      owners.map((owner) => (owner === 1 ? 'rejected' : 'fulfilled')),
    );
    const [refused] = settled.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused?.reason).toBeInstanceOf(NotReplicatedError);

    cluster.nodes[4]!.server.thaw();
    await expect
      .poll(async () => (await claimAll(2)).map(({ status }) => status), { timeout: 20_000 })
      .toEqual(CRONS.map(() => 'fulfilled'));
  });

  it('uses up one claim at a node whose replica is away, whatever those of the others have', async () => {
    const ledger = ledgerThatWaits(300);
    const stage = await stageOf(ledger);
    const names = Array.from({ length: 30 }, (_, n) => `other-${n}`);
    const owners = await Promise.all(names.map(ownerOf));
    const [near, away] = [names[owners.indexOf(0)]!, names[owners.indexOf(1)]!];
    const claim = async (cron: string, n: number) => {
      const { cursor } = await ledger.readCron(cron);
      return ledger.claim(await stage.request(n, { cron, cursor }));
    };
    cluster.nodes[4]!.server.freeze();
    try {
      await expect(claim(away, 1)).rejects.toThrow(NotReplicatedError);
      await claim(near, 1);
      await expect(claim(away, 2)).rejects.toThrow(NotReplicatedError);
      expect((await ledger.runs(away, 2)).map(({ scheduledAt }) => scheduledAt)).toEqual([stage.instant(1)]);
    } finally {
      cluster.nodes[4]!.server.thaw();
    }
  });
});
