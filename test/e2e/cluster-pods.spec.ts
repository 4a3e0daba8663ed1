import type { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { queuePrefix } from '@fencepost/jobs/internal';
import { useDeployment } from '../support/deployment.js';
import { accountFor } from './instants.js';
import { privateCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { Ticking } from './ticking.js';

const NODE_TIMEOUT_MS = 1_000;
const PRIMARIES = 3;

describe('pods on a Redis cluster', () => {
  let servers: PrivateCluster;
  const deployment = useDeployment({}, () => ({ cluster: servers.urls }));

  beforeAll(async () => {
    servers = await privateCluster(NODE_TIMEOUT_MS);
  });
  afterAll(() => servers.stop());

  /** Which of the first nodes owns a key, as long as it lives. */
  async function ownerOf(key: string): Promise<number> {
    const slot = await (deployment.stores.redis as Cluster).cluster('KEYSLOT', key);
    return Math.floor((PRIMARIES * (slot + 1)) / 16_385);
  }

  it(
    'go on when the owner of the cron is killed, and that of the queue: no instant is lost or runs twice',
    { timeout: 180_000 },
    async () => {
      const { prefix, stores } = deployment;
      const space = { prefix, tenant: 'default' };
      const owners = new Set([
        await ownerOf(redisKeys(space)('tick', 'cron')),
        await ownerOf(`${queuePrefix(space)}:runs:wait`),
      ]);
      const ticking = new Ticking(deployment);
      await ticking.start();
      await ticking.goesOn(2);
      for (const owner of owners) {
        await servers.nodes[owner]!.server.stop();
        await ticking.goesOn(3);
      }
      const queues = (await ticking.board()) as { name: string; counts: { completed: number } }[];
      const completed = queues.reduce((total, { counts }) => total + counts.completed, 0);
      expect(completed).toBeGreaterThanOrEqual(3);
      await ticking.end();

      const runs = await deployment.runsOf('tick');
      const skips = await stores.ledger.skips('tick', 1_000);
      expect(accountFor({ runs, skips }, 1_000)).toEqual({ lost: [], twice: [] });
      expect(runs.map(({ state }) => state)).toEqual(runs.map(() => 'succeeded'));
    },
  );
});
