import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeRedis, connectRedis, NotReplicatedError, type RedisClient } from '@fencepost/lease/redis';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { commandTimeoutOf, copyOf } from '@fencepost/jobs/internal';
import { Stage } from './stage.js';
import { privateCluster, type PrivateCluster } from '../../../../test/support/redis-cluster.js';

describe('the Redis ledger on a cluster', () => {
  let cluster: PrivateCluster;

  let redis: Cluster;

  beforeAll(async () => {
    cluster = await privateCluster(5_000);
    redis = await connectRedis({ cluster: cluster.urls, commandTimeoutMs: 5_000, name: 'test' });
  }, 60_000);

  afterAll(async () => {
    await closeRedis(redis);
    await cluster.stop();
  });

  function openStage(cron: string): Promise<Stage> {
    return Stage.of(async () => ({
      ledger: new RedisLedger({ redis, prefix: 'cluster', tenant: 'default' }),
      cron,
      now: async () => Date.now(),
      advance: () => Promise.reject(new Error('Nothing has to pass here.')),
      clockGoesBack: () => Promise.reject(new Error('Nothing goes back here.')),
    }));
  }

  it('claims, confirms and reads crons whose keys lie on several nodes', async () => {
    const stage = await openStage('cron-0');
    const request = await stage.request(1);
    const crons = Array.from({ length: 30 }, (_, n) => `cron-${n}`);
    const settled = await stage.ledger.claimAll(crons.map((cron) => ({ ...request, cron })));
    const ids = crons.map((cron) => `${cron}@${stage.instant(1)}`);
    expect(settled).toEqual(ids.map((runId) => ({ status: 'fulfilled', value: { verdict: 'claimed', runId } })));
    await stage.ledger.confirm(ids);
    const swept = await stage.ledger.overdueAll(crons, { againMs: 1, keep: 1 });
    const watched = { runs: [], watched: 1, surplus: false, notifications: 0 };
    expect(swept).toEqual(crons.map(() => ({ status: 'fulfilled', value: watched })));
    const records = await stage.ledger.readCrons(crons);
    expect(records.map(({ cursor }) => cursor)).toEqual(crons.map(() => stage.instant(1)));
    expect(await stage.ledger.countRuns(['nobody', ...crons])).toEqual([0, ...crons.map(() => 1)]);
    const runs = await Promise.all(crons.map((cron) => stage.ledger.runs(cron, 5)));
    expect(runs.flat().map(({ state }) => state)).toEqual(crons.map(() => 'enqueued'));
  });

  it('begins, keeps alive and ends in one turn what lies on several nodes', async () => {
    const stage = await openStage('turns-0');
    const orders = Array.from({ length: 30 }, (_, n) => stage.order({ runId: `turns-${n}@manual-1` }));
    await Promise.all(orders.map((order) => stage.ledger.trigger(order)));
    const attempts = await Promise.all(orders.map(({ runId }) => stage.begun(runId)));
    const beats = await Promise.all(attempts.map((attempt) => stage.ledger.heartbeat(attempt, 60_000)));
    expect(beats).toEqual(orders.map(() => 'extended'));
    const ends = await Promise.all(attempts.map((attempt) => stage.ledger.finish(attempt, { kind: 'succeeded' })));
    expect(ends).toEqual(orders.map(() => 'succeeded'));
  });

  it('forgets the runs of crons that lie on several nodes', async () => {
    const stage = await openStage('forgotten-0');
    const crons = Array.from({ length: 30 }, (_, n) => `forgotten-${n}`);
    const orders = crons.map((cron) => stage.order({ runId: `${cron}@manual-1` }));
    await Promise.all(orders.map((order) => stage.ledger.trigger(order)));
    await Promise.all(orders.map(({ runId }) => stage.ledger.cancel(runId, { by: 'ada', graceMs: 1 })));
    expect(await stage.ledger.forgetAll(crons, 0)).toEqual(crons.map(() => ({ status: 'fulfilled', value: 1 })));
    expect((await stage.ledger.newestRuns(crons, 1)).flat()).toEqual([]);
  });

  it('reaches the runs beside a new one, which lie where it does', async () => {
    const stage = await openStage('replaced');
    const old = await stage.begun(await stage.claimed(1));
    await stage.claimed(2);
    await stage.ledger.trigger(stage.order({ overlap: 'replace' }));
    expect((await stage.run(old.runId)).cancel).not.toBeNull();
    expect(await stage.run(stage.idOf(2))).toMatchObject({ state: 'skipped', skipped: 'superseded' });
    expect(await stage.ledger.account(stage.cron, 0, Date.now() + 60_000)).toMatchObject({ runs: { length: 3 } });
    await stage.ledger.pause(stage.cron, { by: 'ada', reason: 'migration', until: null });
    expect(await stage.ledger.claim(await stage.request(3))).toEqual({ verdict: 'skipped', reason: 'paused' });
    expect((await stage.ledger.readCron(stage.cron)).paused).toMatchObject({ by: 'ada', reason: 'migration' });
    expect(await stage.forget(0)).toBe(1);
  });
});

const SPACE = { prefix: 'waiting', tenant: 'default' };

const CRONS = Array.from({ length: 30 }, (_, n) => `cron-${n}`);

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
});
