import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { BROWSER_PATIENCE_MS } from '../../scripts/browser.mjs';
import { CRON } from './fixture-runs.js';
import { WebStage } from './web-stage.js';

/** Within ten seconds, however busy the machine is. */
const SOON = { timeout: 10_000 };

let stage: WebStage;
let page: Page | undefined;
beforeAll(async () => {
  stage = await WebStage.open();
}, BROWSER_PATIENCE_MS);
afterEach(async () => {
  await page?.context().close();
  stage.reset();
});
afterAll(() => stage.close());

async function open(options: BrowserContextOptions = {}): Promise<Page> {
  page = await stage.page('/crons/leases', options);
  return page;
}

const grid = (shown: Page) => shown.getByRole('table', { name: 'Crons by pod' });
const rowOf = (shown: Page, pod: RegExp) => grid(shown).getByRole('row', { name: pod });

it('has a row for each scheduler, with its crons and what is left of each', async () => {
  const shown = await open();
  const chip = rowOf(shown, /^scheduler-1/).getByRole('link', { name: CRON });
  await expect.poll(() => chip.getAttribute('title'), SOON).toBe('22 s left, fence 1763607590001');
  expect(await grid(shown).getByRole('row').count()).toBe(3);
  await chip.click();
  await expect.poll(() => shown.locator('h1').innerText(), SOON).toContain(CRON);
});

it('has a row for what nobody holds, before all others, and none where there is nothing such', async () => {
  const shown = await open();
  await rowOf(shown, /^scheduler-1/).waitFor();
  expect(await rowOf(shown, /^nobody/).count()).toBe(0);
  stage.fixture = { role: 'viewer', crons: 100, unheld: 60 };
  await shown.reload();
  const nobody = rowOf(shown, /^nobody/);
  await expect.poll(() => nobody.innerText(), SOON).toContain('and 20 more');
  expect(await grid(shown).getByRole('rowheader').first().innerText()).toBe('nobody');
  expect(await nobody.getByRole('link', { name: 'cron-0040' }).getAttribute('title')).toContain('no pod holds it');
  await nobody.getByRole('link', { name: 'and 20 more' }).click();
  await expect.poll(() => shown.getByLabel('State').inputValue(), SOON).toBe('unheld');
});

it('draws of 5,000 no more than of a hundred, and says how many there are', async () => {
  stage.fixture = { role: 'viewer', crons: 5_000, held: 5_000 };
  const shown = await open();
  await rowOf(shown, /^scheduler-1/).waitFor();
  await expect.poll(() => rowOf(shown, /^scheduler-2/).innerText(), SOON).toContain('and 460 more');
  expect(await grid(shown).getByRole('listitem').count()).toBe(82);
  expect(await shown.evaluate("document.querySelectorAll('*').length")).toBeLessThan(2_000);
});

it('fits on a phone, where each pod is a card', async () => {
  stage.fixture = { role: 'viewer', crons: 200, held: 200, unheld: 60 };
  const shown = await open({ viewport: { width: 360, height: 740 } });
  await rowOf(shown, /^nobody/).waitFor();
  expect(await shown.evaluate('document.documentElement.scrollWidth')).toBe(360);
});
