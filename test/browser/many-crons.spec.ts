import type { Page } from 'playwright-core';
import { expect, it, describe } from 'vitest';
import type { Declaration } from '@fencepost/ledger/catalog';
import { SOON, useStage, cronPath, isMarked, mark, runPath, shows } from './stage.js';

const FEW = 50;

const MANY = 5_000;

const AT_ONCE = 250;

const named = (index: number) => `cron-${String(index).padStart(4, '0')}`;

function declared(index: number): Declaration {
  const policies = { misfire: 'skip', overlap: 'skip', graceMs: 60_000, catchUpWindowMs: null } as const;
  const definition = { name: named(index), expression: '0 0 1 1 *', timeZone: 'UTC', handler: 'many', ...policies };
  return { definition, disabled: false };
}

interface Look {
  readonly nodes: number;
  readonly bytes: number;
}

/** Until the page counts all of them: the pods read new ones when they look next. */
async function isComplete(page: Page, total: number): Promise<void> {
  const count = () => page.locator('.totals li').first().innerText();
  await expect.poll(count, { timeout: 60_000 }).toContain(total.toLocaleString('en'));
}

describe('a page of many crons', () => {
  const stage = useStage({ FENCEPOST_LEASE_TTL: '10s' });

  /** Each part by a build of its own: a build takes back what it no longer declares. */
  async function declareFrom(from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += AT_ONCE) {
      const part = Array.from({ length: Math.min(AT_ONCE, to - at) }, (_, index) => declared(at + index));
      await stage.deployment.stores.catalog.declare(part, { seq: 1, source: `part-${at}` });
    }
  }

  async function look(total: number): Promise<Look> {
    const page = await stage.visit('/crons/');
    const answer = page.waitForResponse((response) => new URL(response.url()).pathname === '/crons/api/crons');
    await page
      .locator('tbody tr')
      .nth(FEW - 1)
      .waitFor();
    const bytes = (await (await answer).body()).length;
    await isComplete(page, total);
    const nodes = Number(await page.evaluate("document.querySelectorAll('*').length"));
    expect(stage.complaints()).toEqual([]);
    await stage.endVisits();
    return { nodes, bytes };
  }

  it('a list of 5,000 crons is no more to read and to draw than one of 50', { timeout: 180_000 }, async () => {
    await declareFrom(0, FEW);
    await isComplete(await stage.visit('/crons/'), FEW);
    const few = await look(FEW);
    await declareFrom(FEW, MANY);
    await isComplete(await stage.visit('/crons/'), MANY);
    const many = await look(MANY);
    expect(many.nodes).toBeLessThan(few.nodes + 30);
    expect(many.bytes).toBeLessThan(few.bytes * 1.2);
  });

  it('one of 5,000 is found, and the next page has the next ones', async () => {
    const page = await stage.visit('/crons/?sort=name');
    await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain(named(0));
    await page.locator('.pager').getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain(named(FEW));
    await page.getByLabel('Search').fill(named(4_321));
    await expect.poll(() => page.locator('tbody tr').count(), SOON).toBe(1);
    expect(await page.locator('tbody').innerText()).toContain(named(4_321));
    expect(stage.complaints()).toEqual([]);
  });
});

const YEARLY = { handler: 'lasting', expression: '0 0 1 1 *' };

/** Each falls to one of two pods by chance: so many that neither is left without. */
const CRONS = Array.from({ length: 16 }, (_, index) => `moving-${index}`);

describe('a page that stays open', () => {
  // Long enough that a busy machine loses no lease by itself.
  const stage = useStage({ FENCEPOST_LEASE_TTL: '3s' });

  it('shows the crons of a scheduler that was killed with the other one', async () => {
    const { deployment } = stage;
    await deployment.pods.worker('worker', { env: { CRONS: 'shown' } });
    for (const cron of CRONS) await stage.cron(cron, YEARLY);
    const doomed = await deployment.pods.scheduler('doomed');
    const page = await stage.visit('/crons/leases');
    const leases = page.getByRole('table', { name: 'Leases of crons' });
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
