import { describe, expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';
import { accountFor } from './instants.js';
import { until } from '../support/until.js';

const EVERY_SECOND = '* * * * * *';
const EVEN_SECONDS = '*/2 * * * * *';

/** Process after process is started, on a machine that may be busy. */
const LONG = { timeout: 180_000 };

const deployment = useDeployment();

function build(seq: number, expression: string, crons = 'tick') {
  return { env: { CRONS: crons, TICK_EXPRESSION: expression, FENCEPOST_BUILD_SEQ: `${seq}` } };
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

describe('a cron that workers of several builds declare', () => {
  it('is defined by the newest, from one instant on, and an old pod that restarts changes nothing', LONG, async () => {
    const { pods, stores } = deployment;
    const second = pods.worker('second-build', build(2, EVERY_SECOND));
    await Promise.all([pods.scheduler('s1'), pods.scheduler('s2'), second]);
    await deployment.settled('tick');

    const older = await pods.worker('first-build', build(1, EVEN_SECONDS));
    expect(older.eventsOf('catalog_declared')).toMatchObject([{ changed: 0, older: 1 }]);
    expect(older.eventsOf('catalog_outdated_build')).toMatchObject([{ crons: ['tick'], buildSeq: 1 }]);
    expect(await definition()).toEqual({ expression: EVERY_SECOND, generation: 1, state: 'active' });

    const same = pods.spawnWorker('other-second-build', build(2, EVEN_SECONDS));
    expect(await same.exited).toEqual({ code: 1, signal: null });
    expect(same.stderr).toBe(
      'The test worker does not start. The cron "tick" is already declared differently by a build with the ' +
        'same buildSeq 2. Give the newer build a higher buildSeq (JobsModule option "buildSeq", or build it again).\n',
    );
    expect(await definition()).toEqual({ expression: EVERY_SECOND, generation: 1, state: 'active' });

    await pods.worker('third-build', build(3, EVEN_SECONDS));
    const newest = { expression: EVEN_SECONDS, generation: 2, state: 'active' };
    expect(await definition()).toEqual(newest);
    const since = (await deployment.entryOf('tick'))!.since;
    await (await second).terminate();
    await pods.worker('second-build-again', build(2, EVERY_SECOND));
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

describe('a cron that a newer build no longer has', () => {
  it('stops at one instant, and an old pod that restarts does not bring it back', LONG, async () => {
    const { pods, stores } = deployment;
    const [old] = await Promise.all([pods.worker('old', build(1, EVERY_SECOND, 'tick,echo')), pods.scheduler('s1')]);
    // Goes on all the while, so that it is seen that the other one doesn't.
    await stores.crons.set('beat', { expression: EVERY_SECOND, handler: 'echo', overlap: 'allow' }, { by: 'the test' });
    await deployment.settled('tick');

    const newer = await pods.worker('new', build(2, EVERY_SECOND, 'echo'));
    expect(newer.eventsOf('catalog_removed')).toMatchObject([{ crons: ['tick'], buildSeq: 2, app: 'test-worker' }]);
    const { since } = (await deployment.entryOf('tick'))!;
    await old.terminate();
    const again = await pods.worker('old-again', build(1, EVERY_SECOND, 'tick,echo'));
    const [line] = again.eventsOf('catalog_outdated_build');
    expect(new Set(line?.['crons'] as string[])).toEqual(new Set(['echo', 'tick']));
    await runsBeyond('beat', { count: 3, after: since });

    expect(await definition()).toMatchObject({ state: 'removed' });
    const instants = await instantsOf('tick');
    expect(instants).toEqual(instants.map((_, n) => instants[0]! + n * 1_000));
    expect(instants.at(-1)).toBe(Math.floor(since / 1_000) * 1_000);
    await pods.terminateAll();
  });
});

describe('a cron that is paused', () => {
  it('stays so across a deploy, and every instant meanwhile is recorded', LONG, async () => {
    const { pods, stores } = deployment;
    const deploy = (seq: number) =>
      Promise.all([
        pods.worker(`worker-${seq}`, build(seq, EVERY_SECOND)),
        pods.scheduler(`s1-${seq}`),
        pods.scheduler(`s2-${seq}`),
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
