import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CRON, FAILURES, SUCCESS, UNCERTAIN } from './fixture-runs.js';
import { SOON, useWebStage } from './web-stage.js';

const stage = useWebStage();

const REASON = 'the report service is back';

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await stage.page(path, options);
  await page.locator('main table, main .empty').first().waitFor();
  return page;
}

const found = (shown: Page) => shown.getByRole('table', { name: 'Runs found' }).locator('tbody tr');
const groups = (shown: Page) => shown.getByRole('table', { name: 'Failed runs, grouped by error' }).locator('tbody tr');
const dialog = (shown: Page) => shown.getByRole('dialog');

describe('the page of all runs', () => {
  it('keeps its filter in the address, and comes back with it', async () => {
    const shown = await open('/crons/runs');
    await expect.poll(() => found(shown).count(), SOON).toBe(3);
    await shown.getByLabel('State').selectOption('failed');
    await expect.poll(() => found(shown).count(), SOON).toBe(1);
    await shown.getByLabel('Error contains').fill('503');
    await shown.getByLabel('Error contains').press('Enter');
    await expect.poll(() => new URL(shown.url()).search, SOON).toBe('?state=failed&error=503');
    await shown.reload();
    await expect.poll(() => shown.getByLabel('Error contains').inputValue(), SOON).toBe('503');
    await expect.poll(() => found(shown).count(), SOON).toBe(1);
    await shown.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => new URL(shown.url()).search, SOON).toBe('');
  });

  it('says when nothing fits, and when not all was searched', async () => {
    const shown = await open('/crons/runs?state=running');
    await expect.poll(() => shown.locator('main').innerText(), SOON).toContain('No runs match');
    expect(await shown.locator('main').innerText()).not.toContain('Only the newest runs');
    await shown.getByLabel('Worker').fill('w');
    await shown.getByLabel('Worker').press('Enter');
    await expect.poll(() => shown.locator('main').innerText(), SOON).toContain('Only the newest runs of each cron');
  });

  it('leads from a kind of failure to its runs', async () => {
    const shown = await open('/crons/runs');
    await groups(shown).first().getByRole('link').first().click();
    await expect.poll(() => new URL(shown.url()).search, SOON).toContain('fingerprint=00112233445566aa');
    await expect
      .poll(() => shown.locator('main').innerText(), SOON)
      .toContain('Only failures with fingerprint 00112233445566aa.');
    await expect.poll(() => groups(shown).count(), SOON).toBe(0);
  });

  it('shows what an order touches before it is given, leaves others alone, and says what was not done', async () => {
    const shown = await open('/crons/runs');
    await shown.getByLabel('Select all on this page').check();
    const select = shown.getByRole('group', { name: 'Select' });
    await expect.poll(() => select.getByRole('button', { name: 'Retry 1 …' }).isEnabled(), SOON).toBe(true);
    await shown.getByRole('button', { name: 'Resolve 1 …' }).click();
    await expect.poll(() => dialog(shown).innerText(), SOON).toContain(UNCERTAIN.id);
    await expect.poll(() => dialog(shown).innerText(), SOON).toContain('2 of the selected are in another state');
    expect(stage.posted).toEqual([]);
    await dialog(shown).getByLabel('Reason').fill(REASON);
    await dialog(shown).getByLabel('Answer').selectOption('not-done');
    await dialog(shown).getByRole('button', { name: 'Resolve' }).click();
    await dialog(shown).waitFor({ state: 'detached' });
    const { effect, item, since } = UNCERTAIN.unresolvedEffect ?? {};
    const asked = [{ runId: UNCERTAIN.id, attempt: UNCERTAIN.attempt, effect, item, since }];
    expect(stage.posted).toEqual([
      {
        path: '/api/runs/orders',
        body: { order: 'resolve', runIds: [UNCERTAIN.id], reason: REASON, answer: 'not-done', asked },
      },
    ]);
  });

  it('retries all runs of a kind of failure with one reason, and stays open with what was not done', async () => {
    const shown = await open('/crons/runs');
    await shown.getByRole('button', { name: 'Retry 3 …' }).click();
    const listed = dialog(shown).getByRole('list', { name: 'Affected runs' });
    await expect.poll(() => listed.getByRole('listitem').count(), SOON).toBe(3);
    await dialog(shown).getByLabel('Reason').fill(REASON);
    await dialog(shown).getByRole('button', { name: 'Retry' }).click();
    await expect
      .poll(() => dialog(shown).getByRole('alert').innerText(), SOON)
      .toContain(`2 done, 1 not: ${CRON}@2: It is running.`);
    await expect.poll(() => dialog(shown).getByRole('progressbar').getAttribute('aria-label'), SOON).toBe('3 of 3 …');
    expect(stage.posted).toMatchObject([{ body: { order: 'retry', runIds: FAILURES[0]?.runIds, reason: REASON } }]);
  });

  it('lets a viewer look, and order nothing', async () => {
    stage.fixture = { role: 'viewer', crons: 8 };
    const shown = await open('/crons/runs');
    await expect.poll(() => found(shown).count(), SOON).toBe(3);
    expect(await shown.getByRole('checkbox').count()).toBe(0);
    expect(await shown.getByRole('button', { name: /Retry/ }).count()).toBe(0);
    await expect.poll(() => shown.getByRole('link', { name: SUCCESS.cron }).count(), SOON).toBeGreaterThan(0);
  });
});

describe('the page of what needs action', () => {
  it('has a card for each uncertain run, and failures by error instead of one by one', async () => {
    const shown = await open('/crons/attention');
    await expect.poll(() => groups(shown).count(), SOON).toBe(2);
    await expect.poll(() => shown.locator('h1').innerText(), SOON).toBe('Needs action');
    await expect.poll(() => shown.getByRole('button', { name: 'It happened …' }).count(), SOON).toBe(1);
    await expect
      .poll(() => groups(shown).first().innerText(), SOON)
      .toMatch(/answered 503[^]*3[^]*nightly-report, cache-warm/);
  });
});
