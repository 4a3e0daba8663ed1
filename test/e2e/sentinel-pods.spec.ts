import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';
import { accountFor } from './instants.js';
import type { PrivateRedis } from '../support/redis.js';
import { PRIMARY_NAME, sentinelStage, type SentinelStage } from '../support/sentinel.js';
import { Ticking } from './ticking.js';
import { until } from '../support/until.js';

/** On a busy machine a sentinel would take another one's failover for one that got stuck, and begin its own. */
const FAILOVER_MS = '4000';
/** A sentinel that was held up itself for 2 s trusts nothing for the next 30 s, and starts no failover. */
const CHOSEN_WITHIN_MS = 60_000;

describe('pods on a Redis that sentinels watch', () => {
  let stage: SentinelStage;
  // Of what is acknowledged nothing may be lost: each instant is asked for below.
  const deployment = useDeployment({ FENCEPOST_WAIT_REPLICAS: '1' }, () => ({
    sentinel: { sentinels: stage.sentinels, name: PRIMARY_NAME },
  }));

  beforeAll(async () => {
    stage = await sentinelStage();
    for (const { host, port } of stage.sentinels) {
      const guard = new Redis(port, host);
      await guard.call('SENTINEL', 'SET', PRIMARY_NAME, 'failover-timeout', FAILOVER_MS);
      guard.disconnect();
    }
  });
  afterAll(() => stage.stop());

  async function expectFollowed(hit: (primary: PrivateRedis) => unknown): Promise<void> {
    const { stores } = deployment;
    const ticking = new Ticking(deployment);
    await ticking.start();
    await ticking.goesOn(2);
    const primary = await stage.primary();
    await hit(primary);
    await until(
      'the sentinels have chosen another',
      async () => (await stage.primary()).port !== primary.port,
      CHOSEN_WITHIN_MS,
    );
    await ticking.goesOn(3);
    await ticking.end();

    const runs = await deployment.runsOf('tick');
    const skips = await stores.ledger.skips('tick', 1_000);
    expect(accountFor({ runs, skips }, 1_000)).toEqual({ lost: [], twice: [] });
    expect(runs.map(({ state }) => state)).toEqual(runs.map(() => 'succeeded'));
    expect((await deployment.written()).toSorted()).toEqual(runs.map(({ id }) => `${id}/write`));
  }

  it('go on at the next primary when theirs falls silent and closes nothing', { timeout: 120_000 }, async () => {
    const frozen: PrivateRedis[] = [];
    await expectFollowed((primary) => {
      frozen.push(primary);
      primary.freeze();
    });
    frozen[0]?.thaw();
    await stage.untilReplicated(2);
  });
});
