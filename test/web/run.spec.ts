import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { overflowOf, violations } from './accessible.js';
import { CRON, FAILED, LOST_RUN, SUCCESS } from './fixture-runs.js';
import { SOON, useWebStage } from './web-stage.js';

const stage = useWebStage();

async function open(id: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await stage.page(`/crons/run/${encodeURIComponent(id)}`, options);
  await page.getByRole('table', { name: 'What happened when, in order' }).waitFor();
  return page;
}

const rows = (shown: Page, table: string) => shown.getByRole('table', { name: table }).locator('tbody tr');

describe('the page of a run', () => {
  it('shows each wait, attempt and effect in milliseconds from its due time', async () => {
    const shown = await open(FAILED.id);
    const texts = await rows(shown, 'What happened when, in order').allInnerTexts();
    expect(texts[0]).toMatch(/Waits for a scheduler\s+\+0 ms\s+/);
    expect(texts.some((text) => /Attempt 2\s+\+40,000 ms\s+2,345 ms/.test(text))).toBe(true);
    expect(texts.some((text) => /Waits for attempt 3\s+\+42,345 ms\s+17,655 ms/.test(text))).toBe(true);
    await expect.poll(() => shown.locator('.waterfall svg').count(), SOON).toBeGreaterThan(5);
  });

  it('has the stack of each failed attempt with its cause, the latest open', async () => {
    const shown = await open(FAILED.id);
    await expect
      .poll(() => shown.locator('pre.stack').first().innerText(), SOON)
      .toContain('Caused by: Error: connect');
    await expect.poll(() => shown.locator('details[open] pre.stack').count(), SOON).toBe(1);
    await expect.poll(() => shown.locator('pre.stack').count(), SOON).toBe(3);
  });

  it('shows what its handler returned', async () => {
    const shown = await open(SUCCESS.id);
    await expect.poll(() => shown.locator('.facts').first().innerText(), SOON).toMatch(/Result\s+\{"sent":3\}/);
  });

  it('filters its log by level and by words', async () => {
    const shown = await open(LOST_RUN);
    const lines = shown.locator('pre.logs');
    await expect.poll(() => lines.innerText(), SOON).toContain('the report is being made');
    await shown.getByLabel('Level').selectOption('warn');
    await expect.poll(() => lines.innerText(), SOON).not.toContain('the report is being made');
    await shown.getByLabel('Search').fill('nothing like it');
    await expect.poll(() => shown.locator('main').innerText(), SOON).toContain('No lines match.');
  });

  it('is compared with the previous success, part by part of the payload', async () => {
    const shown = await open(FAILED.id);
    await expect.poll(() => rows(shown, 'This run beside the previous success').count(), SOON).toBeGreaterThan(5);
    const texts = await rows(shown, 'This run beside the previous success').allInnerTexts();
    expect(texts.find((text) => text.startsWith('Attempts'))).toMatch(/3\s+1\s+differs/);
    expect(texts.find((text) => text.startsWith('Payload month'))).toMatch(/"2026-11"\s+"2026-10"\s+differs/);
    await expect.poll(() => shown.getByRole('link', { name: SUCCESS.id }).count(), SOON).toBe(1);
  });

  it('leads to the runs beside it, and copies its address and what a terminal takes', async () => {
    const shown = await open(FAILED.id, { permissions: ['clipboard-read', 'clipboard-write'] });
    const clipboard = () => shown.evaluate('navigator.clipboard.readText()');
    await shown.getByRole('button', { name: 'Copy as CLI' }).click();
    await expect.poll(clipboard, SOON).toBe(`fencepost run ${FAILED.id}`);
    await shown.getByRole('button', { name: 'Copy “retry” as CLI' }).click();
    await expect.poll(clipboard, SOON).toBe(`fencepost retry ${FAILED.id} --reason ''`);
    await shown.getByRole('button', { name: 'Copy “why” as CLI' }).click();
    await expect.poll(clipboard, SOON).toBe(`fencepost why ${CRON} ${FAILED.scheduledAt}`);
    await shown.getByRole('button', { name: 'Copy link' }).click();
    await expect.poll(clipboard, SOON).toBe(shown.url());
    await shown.getByRole('link', { name: 'Next run' }).click();
    await expect.poll(() => shown.locator('h1').innerText(), SOON).toBe(`Run ${LOST_RUN}`);
    await expect.poll(() => shown.getByRole('button', { name: 'It happened …' }).count(), SOON).toBe(1);
  });

  it('names no next attempt of a run that is over', async () => {
    const shown = await open(FAILED.id);
    expect(await shown.locator('.facts').first().innerText()).not.toContain('Next attempt');
  });

  it('fits into 390 px beside a previous success, and axe finds nothing serious, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const shown = await open(FAILED.id, { colorScheme, viewport: { width: 390, height: 900 } });
      await rows(shown, 'This run beside the previous success').first().waitFor();
      expect(await overflowOf(shown)).toBe(0);
      expect(await violations(shown)).toEqual([]);
      await shown.context().close();
    }
  });
});

describe('the zone of the times', () => {
  const zoned = (shown: Page) => shown.locator('.facts time').first().innerText();

  it('is that of the cron, of the browser or UTC, is said with each time, and is remembered', async () => {
    const shown = await open(FAILED.id, { timezoneId: 'America/New_York' });
    await expect.poll(() => zoned(shown), SOON).toMatch(/CES?T$/);
    await shown.getByLabel('Times').selectOption('browser');
    await expect.poll(() => zoned(shown), SOON).toMatch(/GMT-[45]$/);
    await shown.getByLabel('Times').selectOption('utc');
    await expect.poll(() => zoned(shown), SOON).toMatch(/\d\d:\d\d:\d\d\.\d{3} UTC$/);
    await shown.reload();
    await expect.poll(() => zoned(shown), SOON).toMatch(/UTC$/);
  });
});
