import { describe, expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';
import { until } from '../support/until.js';

const EVERY_SECOND = '* * * * * *';
const EVEN_SECONDS = '*/2 * * * * *';

describe('a cron that workers of several builds declare', () => {
  const deployment = useDeployment();

  function build(seq: number, expression: string) {
    return { env: { CRONS: 'tick', TICK_EXPRESSION: expression, FENCEPOST_BUILD_SEQ: `${seq}` } };
  }

  async function definition() {
    const [entry] = await deployment.stores.catalog.read();
    return { expression: entry?.definition.expression, generation: entry?.generation };
  }

  it('is defined by the newest, and the schedulers follow', async () => {
    const { pods } = deployment;
    await Promise.all([pods.scheduler('scheduler'), pods.worker('second-build', build(2, EVERY_SECOND))]);
    await deployment.settled('tick');

    const older = await pods.worker('first-build', build(1, EVEN_SECONDS));
    expect(older.eventsOf('catalog_declared')).toMatchObject([{ changed: 0, older: 1 }]);
    expect(await definition()).toEqual({ expression: EVERY_SECOND, generation: 1 });

    const same = pods.spawnWorker('other-second-build', build(2, EVEN_SECONDS));
    expect(await same.exited).toEqual({ code: 1, signal: null });
    expect(same.stderr).toBe(
      'The test worker does not start. The cron "tick" is already declared with another content by a build with the ' +
        'same buildSeq 2. Give the newer build a higher buildSeq (JobsModule option "buildSeq", or build it again).\n',
    );
    expect(await definition()).toEqual({ expression: EVERY_SECOND, generation: 1 });

    await pods.worker('third-build', build(3, EVEN_SECONDS));
    expect(await definition()).toEqual({ expression: EVEN_SECONDS, generation: 2 });
    await until('three runs of the new definition are there', async () => (await newRuns()).length >= 3);
    const instants = (await newRuns()).map(({ scheduledAt }) => scheduledAt);
    expect(instants).toEqual(instants.map((_, n) => instants[0]! + n * 2_000));
    expect(instants[0]! % 2_000).toBe(0);
    await pods.terminateAll();
  });

  async function newRuns() {
    return (await deployment.runsOf('tick')).filter(({ generation }) => generation === 2);
  }
});
