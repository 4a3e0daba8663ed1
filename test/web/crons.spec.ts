import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { SOON, useWebStage } from './web-stage.js';

const stage = useWebStage();

const open = (path: string): Promise<Page> => stage.page(path);

const main = async (shown: Page) => shown.locator('main').innerText();

describe('the list', () => {
  it('searches, filters, and keeps both in its address', async () => {
    const shown = await open('/crons/');
    await shown.getByLabel('Search').fill('invoice');
    await expect.poll(() => shown.locator('tbody tr').count(), SOON).toBe(1);
    await shown.getByLabel('Search').fill('');
    await shown.getByLabel('State').selectOption('removed');
    await expect.poll(() => main(shown), SOON).not.toContain('invoice-collect');
    await expect.poll(() => shown.url(), SOON).toContain('?state=removed');
    await shown.reload();
    await expect.poll(() => shown.locator('tbody tr').count(), SOON).toBe(1);
  });

  it('is sorted by a column, and goes back to the worst first', async () => {
    const shown = await open('/crons/');
    const head = (name: string) => shown.getByRole('columnheader', { name });
    await expect.poll(() => head('State').getAttribute('aria-sort'), SOON).toBe('ascending');
    const asked = shown.waitForRequest((request) => request.url().includes('sort=delay'));
    await head('Start delay p95').getByRole('button').click();
    await asked;
    await expect.poll(() => head('Start delay p95').getAttribute('aria-sort'), SOON).toBe('descending');
    expect(await head('State').getAttribute('aria-sort')).toBeNull();
    await head('State').getByRole('button').click();
    await expect.poll(() => head('State').getAttribute('aria-sort'), SOON).toBe('ascending');
  });

  it('is searched from anywhere with "/", and filtered by a tag that a row shows', async () => {
    const shown = await open('/crons/');
    await shown.locator('tbody tr').first().waitFor();
    await shown.keyboard.press('/');
    // So slowly that what was typed before comes back from the address while the next key is pressed.
    await shown.keyboard.type('cron-0007/', { delay: 30 });
    await expect.poll(() => shown.getByLabel('Search').inputValue(), SOON).toBe('cron-0007/');
    await shown.getByLabel('Search').fill('');
    const asked = shown.waitForRequest((request) => request.url().includes('tag=billing'));
    await shown.getByRole('link', { name: 'billing' }).first().click();
    await asked;
    await expect.poll(() => shown.getByRole('searchbox', { name: 'Tag' }).inputValue(), SOON).toBe('billing');
  });

  it('keeps a view under a name in this browser, and forgets it', async () => {
    const shown = await open('/crons/?state=failing&sort=delay');
    await shown.getByRole('button', { name: 'Save view' }).click();
    await shown.getByLabel('Name of the view').fill('slow failures');
    await shown.getByRole('button', { name: 'Save', exact: true }).click();
    await shown.goto(stage.url('/crons/'));
    await shown.getByLabel('View').selectOption('slow failures');
    await expect.poll(() => shown.url(), SOON).toContain('?state=failing&sort=delay');
    await shown.getByRole('button', { name: 'Delete view' }).click();
    await expect.poll(() => shown.getByLabel('View').count(), SOON).toBe(0);
  });

  it('says of each mark what it was, and of a history that was not read that it is unknown', async () => {
    const shown = await open('/crons/');
    const row = (name: RegExp) => shown.getByRole('row', { name });
    await expect
      .poll(
        () =>
          row(/^cron-0006/)
            .getByRole('img')
            .getAttribute('aria-label'),
        SOON,
      )
      .toBe('28 ran, 2 failed');
    const titles = await row(/^cron-0006/)
      .locator('rect title')
      .allTextContents();
    expect(titles[8]).toMatch(/Europe\/Berlin: failed, started 15 ms after its due time, took 1.3 s$/);
    expect(titles[12]).toMatch(/: ran, manual, took 1.3 s$/);
    expect(
      await row(/^import-by-hand/)
        .getByRole('cell')
        .nth(1)
        .innerText(),
    ).toBe('unknown');
  });

  it('says since when all is well where nothing needs a person', async () => {
    stage.fixture = { role: 'viewer', crons: 8, isWell: true };
    const shown = await open('/crons/');
    const strip = shown.getByRole('region', { name: 'Needs action' });
    await expect.poll(() => strip.innerText(), SOON).toMatch(/All is well\s+since .+ ago/);
  });

  it('says how to declare a cron when there is none', async () => {
    stage.fixture = { role: 'viewer', crons: 0 };
    const shown = await open('/crons/');
    await expect.poll(() => main(shown), SOON).toContain('@SingletonCron');
  });

  it('says that nothing is found, which is something else', async () => {
    const shown = await open('/crons/?search=zebra');
    await expect.poll(() => main(shown), SOON).toContain('No crons match');
  });

  it('orders all crons with a tag, after it has shown which', async () => {
    const shown = await open('/crons/?tag=billing');
    await shown.getByRole('button', { name: 'Pause all “billing”' }).click();
    const dialog = shown.getByRole('dialog');
    await expect.poll(() => dialog.innerText(), SOON).toContain('2 crons');
    await expect.poll(() => dialog.innerText(), SOON).toContain('cache-warm');
    await dialog.getByLabel('Reason').fill('the provider is down');
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => shown.getByRole('dialog').count(), SOON).toBe(0);
    const [preview, order] = stage.posted.map(({ body }) => body);
    expect(preview).toMatchObject({ order: 'pause', tag: 'billing', dryRun: true });
    expect(order).toMatchObject({ order: 'pause', dryRun: false, expected: 2, reason: 'the provider is down' });
  });

  it('has no orders for a viewer', async () => {
    stage.fixture = { role: 'viewer', crons: 8 };
    const shown = await open('/crons/?tag=billing');
    await shown.locator('tbody tr').first().waitFor();
    expect(await shown.getByRole('button', { name: /all “billing”/ }).count()).toBe(0);
  });
});

describe('a page that nobody sees', () => {
  const turn = (shown: Page, to: 'hidden' | 'visible') =>
    shown.evaluate(`
      Object.defineProperty(document, 'visibilityState', { value: '${to}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    `);

  it('gives its connection back, and asks what happened when it is seen again', async () => {
    const shown = await open('/crons/');
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toBe('live');
    await turn(shown, 'hidden');
    await expect.poll(() => stage.listeners(), SOON).toBe(0);
    const asked = shown.waitForRequest((request) => request.url().includes('/api/triage'));
    await turn(shown, 'visible');
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toBe('live');
    await asked;
    expect(stage.listeners()).toBe(1);
  });
});
