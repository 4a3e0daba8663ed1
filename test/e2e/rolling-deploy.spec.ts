import { describe, expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';
import { accountFor } from './instants.js';
import { until } from '../support/until.js';

const EVERY_SECOND = '* * * * * *';
const EVEN_SECONDS = '*/2 * * * * *';

/** Process after process is started, on a machine that may be busy. */
const LONG = { timeout: 180_000 };

const deployment = useDeployment();

function revision(number: number, expression: string) {
  return { env: { CRONS: 'tick', TICK_EXPRESSION: expression, FENCEPOST_REVISION: `${number}` } };
}

async function definition() {
  const entry = await deployment.entryOf('tick');
  return { expression: entry?.definition.expression, generation: entry?.generation, state: entry?.state };
}

async function instantsOf(cron: string, generation?: number): Promise<number[]> {
  const runs = await deployment.runsOf(cron);
  return runs.filter((run) => generation === undefined || run.generation === generation).map((run) => run.scheduledAt);
}

async function runsBeyond(cron: string, { count, after }: { count: number; after: number }): Promise<void> {
  await until(`${count} instants of ${cron} beyond ${new Date(after).toISOString()} ran`, async () => {
    return (await instantsOf(cron)).filter((instant) => instant > after).length >= count;
  });
}

describe('a cron that workers of several revisions declare', () => {
  it('is defined by the newest live one, from one instant on', LONG, async () => {
    const { pods, stores } = deployment;
    const second = pods.worker('second', revision(2, EVERY_SECOND));
    await Promise.all([pods.scheduler('s1'), pods.scheduler('s2'), second]);
    await deployment.settled('tick');

    const older = await pods.worker('first', revision(1, EVEN_SECONDS));
    const [superseded] = older.eventsOf('catalog_superseded');
    expect(superseded).toMatchObject({ crons: ['tick'], revision: 1, by: [2] });
    expect(await definition()).toEqual({ expression: EVERY_SECOND, generation: 1, state: 'active' });

    await pods.worker('third', revision(3, EVEN_SECONDS));
    const newest = { expression: EVEN_SECONDS, generation: 2, state: 'active' };
    await until('the third revision is in force', async () => (await definition()).generation === 2);
    expect(await definition()).toEqual(newest);
    const since = (await deployment.entryOf('tick'))!.since;
    await (await second).terminate();
    await pods.worker('second-again', revision(2, EVERY_SECOND));
    expect(await definition()).toEqual(newest);
    await runsBeyond('tick', { count: 3, after: since });
    await pods.terminateAll();

    const [before, after] = [await instantsOf('tick', 1), await instantsOf('tick', 2)];
    expect(before).toEqual(before.map((_, n) => before[0]! + n * 1_000));
    expect(after).toEqual(after.map((_, n) => after[0]! + n * 2_000));
    expect(before.at(-1)).toBe(Math.floor(since / 1_000) * 1_000);
    expect(after[0]).toBe((Math.floor(since / 2_000) + 1) * 2_000);
    // A machine that stands still for a second merges an instant into the next; the change leaves out none.
    const skips = await stores.ledger.skips('tick', 10);
    expect(skips.filter(({ reason }) => reason !== 'merged')).toEqual([]);
  });
});

describe('a cron that is paused', () => {
  it('stays so across a deploy, and every instant meanwhile is recorded', LONG, async () => {
    const { pods, stores } = deployment;
    const deploy = (number: number) =>
      Promise.all([
        pods.worker(`worker-${number}`, revision(number, EVERY_SECOND)),
        pods.scheduler(`s1-${number}`),
        pods.scheduler(`s2-${number}`),
      ]);
    await deploy(1);
    await deployment.settled('tick');
    const pause = await stores.operator.pause('tick', { by: 'ann', reason: 'the printer burns' });
    const isPaused = async (after: number) =>
      (await stores.ledger.skips('tick', 100)).some(({ reason, through }) => reason === 'paused' && through > after);
    await until('an instant is paused', () => isPaused(pause.since));

    await pods.terminateAll();
    const stoppedAt = Date.now();
    const [, ...schedulers] = await deploy(2);
    await until('an instant after the deploy is paused', () => isPaused(stoppedAt));
    expect((await stores.ledger.readCron('tick')).paused).toMatchObject({ by: 'ann', reason: 'the printer burns' });

    const resumed = await stores.operator.resume('tick', { by: 'ben', reason: 'it is out' });
    expect(resumed).toMatchObject({ ended: { by: 'ann' }, runId: null });
    const resumedAt = Date.now();
    await runsBeyond('tick', { count: 2, after: resumedAt });
    await Promise.all(schedulers.map((pod) => pod.terminate()));
    await deployment.settled('tick');
    await pods.terminateAll();

    const [runs, skips] = [await deployment.runsOf('tick'), await stores.ledger.skips('tick', 1_000)];
    expect(accountFor({ runs, skips }, 1_000)).toEqual({ lost: [], twice: [] });
    expect(runs.filter(({ scheduledAt }) => scheduledAt > pause.since && scheduledAt < resumedAt - 1_000)).toEqual([]);
    expect((await stores.ledger.readCron('tick')).paused).toBeNull();
  });
});
