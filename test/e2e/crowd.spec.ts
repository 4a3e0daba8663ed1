import { describe, expect, it } from 'vitest';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import type { FailPoint } from '../pods/fail-point.js';
import { onlyAt, useDeployment, type Deployment } from '../support/deployment.js';
import { accountFor } from './instants.js';
import { isLong } from '../support/run-length.js';
import { until } from '../support/until.js';

const EVERY_SECOND = '* * * * * *';

/** Crons that have nothing of their own but their name. */
async function makeMany(deployment: Deployment, count: number, expression: string): Promise<string[]> {
  const names = Array.from({ length: count }, (_, n) => `crowd-${n}`);
  const definitions = names.map((name): CronDefinition => {
    const policies = { timeZone: 'UTC', misfire: 'fire-once', overlap: 'allow' } as const;
    return { name, expression, ...policies, graceMs: 60_000, catchUpWindowMs: null, handler: 'many' };
  });
  const build = { revision: 1, app: 'the crowd' };
  await deployment.stores.catalog.declare(
    definitions.map((definition) => ({ definition, disabled: false })),
    build,
  );
  return names;
}

async function calls({ stores, prefix }: Deployment): Promise<Readonly<Record<string, string>>> {
  return stores.redis.hgetall(`${prefix}:calls`);
}

async function accountOf(deployment: Deployment, cron: string) {
  const [runs, skips] = [await deployment.runsOf(cron), await deployment.stores.ledger.skips(cron, 1_000)];
  return accountFor({ runs, skips }, 1_000);
}

describe('two pods with the same name', () => {
  const deployment = useDeployment({ FENCEPOST_LEASE_TTL: '2s' });

  it('are two members, share the crons, and run each instant once', { timeout: 180_000 }, async () => {
    const { pods, stores } = deployment;
    const [, ...schedulers] = await Promise.all([
      pods.worker('worker', { env: { CRONS: 'many' } }),
      pods.scheduler('twin'),
      pods.scheduler('twin'),
    ]);
    const names = await makeMany(deployment, 20, EVERY_SECOND);
    await until('both hold some of the crons', async () => {
      const holders = (await stores.leases.inspect(names)).map((holding) => holding?.holder);
      return !holders.includes(undefined) && new Set(holders).size === 2;
    });
    const holdings = await stores.leases.inspect(names);
    expect(holdings.map((holding) => holding?.holder.split('/')[0])).toEqual(names.map(() => 'twin'));
    const seen = Object.keys(await calls(deployment)).length;
    await until('three more rounds ran', async () => Object.keys(await calls(deployment)).length >= seen + 60);
    await Promise.all(schedulers.map((pod) => pod.terminate()));
    await Promise.all(names.map((name) => deployment.settled(name)));
    await pods.terminateAll();

    expect(new Set(Object.values(await calls(deployment)))).toEqual(new Set(['1']));
    for (const name of names) expect(await accountOf(deployment, name)).toEqual({ lost: [], twice: [] });
  });
});

describe('an event loop that stands still on the pod that holds a cron, at its instant', () => {
  const deployment = useDeployment();

  it.each(['1s', '10s'])('costs no instant and doubles none, with a lease of %s', { timeout: 180_000 }, async (ttl) => {
    const { pods } = deployment;
    const failPoint: FailPoint = { event: 'occurrence.claiming', action: 'block', forMs: 2_000, nth: 3 };
    const blocking = { failPoint, env: { FENCEPOST_LEASE_TTL: ttl } };
    const [, ...schedulers] = await Promise.all([
      pods.worker('worker', { env: { CRONS: 'tick' } }),
      pods.scheduler('s1', blocking),
      pods.scheduler('s2', blocking),
    ]);
    await Promise.race(schedulers.map((pod) => pod.waitFor('fail_point')));
    const before = (await deployment.runsOf('tick')).length;
    await until('four more runs are there', async () => (await deployment.runsOf('tick')).length >= before + 4);
    await Promise.all(schedulers.map((pod) => pod.terminate()));
    await deployment.settled('tick');
    await pods.terminateAll();

    expect(await accountOf(deployment, 'tick')).toEqual({ lost: [], twice: [] });
    const runs = await deployment.runsOf('tick');
    expect((await deployment.written()).toSorted()).toEqual(runs.map(({ id }) => `${id}/write`));
  });
});

const CROWD = isLong ? 5_000 : 1_000;

describe('thousands of crons that are due at one instant', () => {
  // What is tested is that all of them run, not how soon a machine that is busy with it notices a dead pod.
  const patient = { FENCEPOST_LEASE_TTL: '10s', FENCEPOST_RUN_LEASE: '30s', FENCEPOST_SWEEP_EVERY: '5s' };
  const deployment = useDeployment({ ...patient, FENCEPOST_CONCURRENCY: '200', LOG_LEVEL: 'info' });

  it('all run, each once', { timeout: 120_000 }, async () => {
    const { pods, stores } = deployment;
    const withMany = { env: { CRONS: 'many' } };
    await Promise.all([
      ...[pods.worker('w1', withMany), pods.worker('w2', withMany)],
      ...[pods.scheduler('s1'), pods.scheduler('s2')],
    ]);
    const { expression, instant } = onlyAt(Date.now() + (isLong ? 12_000 : 6_000));
    const names = await makeMany(deployment, CROWD, expression);
    const ids = names.map((name) => `${name}@${instant}`);
    await until(
      'all of them were carried out',
      async () => (await stores.redis.hlen(`${deployment.prefix}:calls`)) === CROWD,
      60_000,
    );

    expect(await calls(deployment)).toEqual(Object.fromEntries(ids.map((id) => [id, '1'])));
    await until('the ledger has heard of all of them', async () => {
      const runs = await Promise.all(ids.map((id) => stores.ledger.readRun(id)));
      return runs.every((run) => run?.state === 'succeeded' && run.reason === 'schedule');
    });
    await pods.terminateAll();
  });
});
