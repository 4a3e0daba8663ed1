import { describe, expect, it } from 'vitest';
import { cronPath, isMarked, mark, runPath, shows, SOON, useStage } from './stage.js';

// Long enough that a busy machine loses no lease by itself.
const stage = useStage({ FENCEPOST_LEASE_TTL: '3s' });
const YEARLY = { handler: 'lasting', expression: '0 0 1 1 *' };
const CRONS = Array.from({ length: 8 }, (_, index) => `moving-${index}`);

describe('a page that stays open', () => {
  it('shows the crons of a scheduler that was killed with the other one', async () => {
    const { deployment } = stage;
    await deployment.pods.worker('worker', { env: { CRONS: 'shown' } });
    for (const cron of CRONS) await stage.cron(cron, YEARLY);
    const doomed = await deployment.pods.scheduler('doomed');
    const page = await stage.visit('/crons/leases');
    const leases = page.getByRole('table', { name: 'Leases', exact: true });
    const rows = leases.getByRole('row').filter({ hasText: 'moving-' });
    const heldBy = (pod: string) => rows.filter({ hasText: `${pod}/` }).count();
    await expect.poll(() => heldBy('doomed'), SOON).toBeGreaterThan(0);
    await expect.poll(async () => (await heldBy('doomed')) + (await heldBy('scheduler')), SOON).toBe(CRONS.length);
    await mark(page);

    const theirs = await Promise.all(
      CRONS.map(async (cron) => ((await deployment.holderOf(cron)) === 'doomed' ? [cron] : [])),
    );
    await doomed.kill();
    const moved = await Promise.all(theirs.flat().map((cron) => deployment.otherHolderOf(cron, 'doomed')));
    await expect.poll(() => heldBy('scheduler'), SOON).toBe(CRONS.length);
    expect(await heldBy('doomed')).toBe(0);
    await shows(page.getByRole('table', { name: 'Hand-overs, newest first' }), theirs.flat()[0] ?? '');
    expect(await isMarked(page)).toBe(true);
    console.log(
      `${moved.length} crons moved within ${Math.round(Math.max(...moved.map(({ tookMs }) => tookMs)))} ms; a lease lasts 3,000 ms`,
    );
    expect(stage.complaints()).toEqual([]);
  });

  it('shows a run that begins and ends', async () => {
    await stage.cron('watched', { handler: 'lasting' });
    await stage.closeGate('watched');
    const page = await stage.visit(cronPath('watched'));
    await shows(page, 'No runs yet');
    await mark(page);
    const runs = page.getByRole('table', { name: 'Latest runs' });
    const runId = await stage.trigger('watched');
    await shows(runs, 'running');
    await stage.openGate('watched');
    await shows(runs, 'succeeded');
    expect(await isMarked(page)).toBe(true);
    await runs.getByRole('link').first().click();
    await expect.poll(() => page.url(), SOON).toBe(stage.pod.url + runPath(runId));
    await shows(page, 'It waits at its gate.', 'write', 'done');
    expect(stage.complaints()).toEqual([]);
  });

  // The last one: nobody is there afterwards.
  it('says that it is out of date, and what to do, when its only scheduler is gone', async () => {
    const page = await stage.visit('/crons/leases');
    await expect.poll(() => page.locator('.live').innerText(), SOON).toBe('live');
    await stage.pod.terminate();
    await expect.poll(() => page.locator('.live').innerText(), SOON).toBe('reconnecting');
    await shows(page, 'This is out of date.', 'check that scheduler pods are running');
    await page.getByRole('link', { name: 'Upcoming' }).click();
    await shows(page, 'The scheduler does not answer', 'Try again');
  });
});
