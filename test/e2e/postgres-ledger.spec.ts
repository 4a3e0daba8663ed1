import { beforeAll, describe, expect, it } from 'vitest';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { RedisMembership } from '@fencepost/jobs/internal';
import { ensureBuilt } from '../../scripts/build.mjs';
import { faultyLink } from '../chaos/faulty-link.js';
import type { Pod } from '../support/pod.js';
import { CRON, SPACE, usePostgresDeployment } from './postgres-deployment.js';
import { isLong } from '../support/run-length.js';
import { until } from '../support/until.js';

/* What is in Redis may be gone at any moment, and every session with the database, and every pod: no instant is. */
beforeAll(() => ensureBuilt({ pods: true }), 600_000);
const deployment = usePostgresDeployment();
const STORM_MS = isLong ? 3_000 : 1_500;
const EVERY_MS = 200;
const PATIENCE_MS = 60_000;
/** What was due so long before is covered by the audit. */
const COVERED_MS = 5_000;

/** Before a commit, after it, and between an effect and its record. */
const MOMENTS = [
  ['effect.acted', 'kill', 'transaction'],
  ['effect.finished', 'kill', 'transaction'],
  ['effect.acted', 'kill', 'mail'],
  ['effect.acted', 'freeze', 'transaction'],
  ['effect.acted', 'freeze', 'mail'],
] as const;

async function started(): Promise<readonly Pod[]> {
  const { pods } = deployment;
  const all = await Promise.all([
    pods.scheduler('s1'),
    pods.scheduler('s2'),
    deployment.worker('w1'),
    deployment.worker('w2'),
  ]);
  await deployment.goesOn(2);
  return all;
}

/** They are the database's own: no worker has to declare its crons again. */
async function definitions(): Promise<readonly CatalogEntry[]> {
  return (await deployment.stores.catalog.read()).entries;
}

/** Which pods are there is in Redis: the audit covers an instant when they have announced themselves a while after it. */
async function covered(instant: number): Promise<void> {
  const membership = new RedisMembership({ redis: deployment.stores.redis, ...SPACE });
  const heard = () => membership.lastHeard().catch(() => null);
  await until('pods are heard of again', async () => ((await heard()) ?? 0) > instant + COVERED_MS, PATIENCE_MS);
}

/** What came due while Redis was away is its misfire policy's: merged into one late run, and nothing is written off. */
async function expectMadeUpFor(): Promise<void> {
  const { ran, skipped } = await deployment.expectAccounted();
  expect(ran).toBeGreaterThan(0);
  expect(skipped.superseded).toBe(0);
}

describe('with the ledger in PostgreSQL', { timeout: 2 * PATIENCE_MS }, () => {
  it('a Redis that is wiped, and one that comes back empty, takes no run with it, and no instant', async () => {
    const pods = await started();
    const before = await definitions();
    const losses = [() => deployment.stores.redis.flushall(), () => deployment.redis.restartEmpty()];
    for (const lose of losses) {
      await lose();
      const lostAt = Date.now();
      expect(await definitions()).toEqual(before);
      await deployment.goesOn(1);
      await covered(lostAt);
      await expectMadeUpFor();
      expect(await definitions()).toEqual(before);
    }
    expect(pods.filter(({ isAlive }) => !isAlive)).toEqual([]);
    await deployment.pods.terminateAll();
  });

  it('sessions that are ended again and again delay runs, and do nothing else', async () => {
    const pods = await started();
    let ended = 0;
    const storm = setInterval(() => {
      void deployment.terminateSessions().then((count) => (ended += count));
    }, EVERY_MS);
    await new Promise((resolve) => setTimeout(resolve, STORM_MS));
    clearInterval(storm);
    const endedAt = Date.now();
    await deployment.goesOn(2);
    await covered(endedAt);
    expect((await deployment.expectAccounted()).ran).toBeGreaterThan(0);
    expect(ended).toBeGreaterThan(STORM_MS / EVERY_MS / 2);
    expect(pods.filter(({ isAlive }) => !isAlive)).toEqual([]);
    await deployment.pods.terminateAll();
  });

  it('connections that the network has forgotten keep no pod that is told to stop', async () => {
    const { pods } = deployment;
    const database = new URL(pods.env['DATABASE_URL'] ?? '');
    const link = await faultyLink(Number(database.port));
    database.port = String(link.port);
    Object.assign(pods.env, { DATABASE_URL: database.href, FENCEPOST_DRAIN_DEADLINE: '2s' });
    try {
      const all = await started();
      link.cut();
      link.heal('silent');
      await Promise.all(all.map((pod) => pod.terminate()));
      expect((await Promise.all(all.map(({ exited }) => exited))).filter(({ code }) => code === 1)).toEqual([]);
    } finally {
      await link.close();
    }
  });

  it('workers that are killed and frozen at the worst moments are followed by one that writes what is missing', async () => {
    const failing = await Promise.all(
      MOMENTS.map(([event, action, effect], n) =>
        deployment.worker(`failing-${n}`, { failPoint: { event, action, where: { effect } } }),
      ),
    );
    const scheduler = deployment.pods.scheduler('s1');
    await Promise.all(failing.map((pod) => pod.waitFor('fail_point')));
    await Promise.all([scheduler, deployment.worker('healthy')]);
    const healthyAt = Date.now();
    await deployment.goesOn(2);
    await covered(healthyAt);
    for (const pod of failing) pod.thaw();
    expect((await deployment.expectAccounted()).ran).toBeGreaterThan(0);
    expect(failing.filter(({ isAlive }) => isAlive)).toHaveLength(2);
    const runs = await deployment.runs();
    // One run may meet several of them.
    expect(runs.reduce((more, { attempt }) => more + attempt - 1, 0)).toBeGreaterThanOrEqual(MOMENTS.length);
    await deployment.pods.terminateAll();
  });
});

describe('the leases of crons in the database of the ledger', () => {
  it('outlive a Redis that loses everything, and a killed holder', { timeout: 120_000 }, async () => {
    const { pods, stores } = deployment;
    pods.env['FENCEPOST_LEASES'] = 'postgres';
    const all = await started().finally(() => delete pods.env['FENCEPOST_LEASES']);
    const holder = async () => {
      const text = `select holder, resource from "${stores.schema}".leases where resource = $1`;
      return (await stores.pool.query<{ holder: string; resource: string }>(text, [CRON])).rows[0];
    };
    const { holder: first = '', resource } = (await holder()) ?? {};
    expect(resource).toBe(CRON);
    expect(await stores.redis.keys('*cron-lease*')).toEqual([]);
    await stores.redis.flushall();
    await deployment.goesOn(2);
    const killed = all.find(({ name }) => (first.split('/')[0] ?? '') === name)!;
    await killed.kill();
    await until('another pod holds it', async () => ((await holder())?.holder ?? first) !== first);
    await deployment.goesOn(2);
    await pods.terminateAll();
    await deployment.expectAccounted();
  });
});
