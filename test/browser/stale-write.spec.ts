import { describe, expect, it } from 'vitest';
import { cronPath, isMarked, mark, runPath, shows, SOON, useStage } from './stage.js';

// The scheduler lives through all of it, so its lease may be long.
const stage = useStage({ FENCEPOST_LEASE_TTL: '3s', FENCEPOST_RUN_LEASE: '2s' });
const STEPS = { CRONS: 'steps' };
const FREEZES = { event: 'effect.beginning', action: 'freeze', where: { effect: 'second' } } as const;

describe('a worker that is frozen past its run lease, and wakes up', () => {
  it('is seen to be refused, on the page of the run and in the fences of the cron', async () => {
    const { pods } = stage.deployment;
    const first = await pods.worker('first-worker', { env: STEPS, failPoint: FREEZES });
    const runId = await stage.trigger('steps');
    await first.waitFor('fail_point');
    const late = (await stage.deployment.stores.ledger.readRun(runId))?.fence;
    const [run, cron] = [await stage.visit(runPath(runId)), await stage.visit(cronPath('steps'))];
    await shows(run, 'running', 'No stale write of this run was refused.');
    await Promise.all([mark(run), mark(cron)]);

    const second = await pods.worker('second-worker', { env: STEPS });
    await second.waitFor('attempt_succeeded');
    await shows(run, 'succeeded', 'second-worker/');
    first.thaw();
    await first.waitFor('attempt_refused');

    const refusals = run.getByRole('table', { name: 'Refusals, newest first' });
    const refused = refusals.getByRole('row').filter({ hasText: 'first-worker/' });
    await shows(refused.first(), 'refused', 'write refused: the attempt is stale');
    const attempts = run.getByRole('table', { name: 'Attempts, newest first' });
    await shows(attempts.getByRole('row').nth(1), 'second-worker/', 'succeeded');
    const against = `was refused: fence ${late} against`;
    await shows(attempts.getByRole('row').nth(2), 'first-worker/', 'refused', 'an effect', against);
    const fences = cron.getByRole('table', { name: 'Fences and refusals, newest first' });
    await shows(fences, 'write refused', 'first-worker/', 'lease acquired');
    await cron.getByLabel('Refusals only').check();
    await expect.poll(() => fences.innerText(), SOON).not.toContain('lease acquired');
    await shows(fences, 'first-worker/', String(late));
    expect([await isMarked(run), await isMarked(cron)]).toEqual([true, true]);
    expect(await stage.deployment.effectsOf(runId)).toEqual(['first', 'second', 'third']);
    expect(stage.complaints()).toEqual([]);
  });
});
