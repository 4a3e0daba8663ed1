import { afterAll, beforeAll, expect, it } from 'vitest';
import { BROWSER_PATIENCE_MS } from '../support/browser.js';
import { WebStage } from './web-stage.js';

/** Within ten seconds, however busy the machine is. */
const SOON = { timeout: 10_000 };

let stage: WebStage;
beforeAll(async () => {
  stage = await WebStage.open();
}, BROWSER_PATIENCE_MS);
afterAll(() => stage.close());

/** How long until the list is there, as the browser counts from the start of the navigation, and how much of it there is. */
async function listOf(crons: number): Promise<{ readonly ms: number; readonly nodes: number; readonly rows: number }> {
  stage.fixture = { role: 'viewer', crons };
  const page = await stage.page('/crons/');
  await page.locator('tbody tr').nth(49).waitFor();
  const ms = Number(await page.evaluate('performance.now()'));
  const nodes = Number(await page.evaluate("document.querySelectorAll('*').length"));
  const rows = await page.locator('tbody tr').count();
  await page.context().close();
  return { ms, nodes, rows };
}

/** The best of three: what a busy machine adds is not the page's. */
async function bestOf(crons: number) {
  const lists = [await listOf(crons), await listOf(crons), await listOf(crons)];
  const [best = await listOf(crons)] = lists.toSorted((a, b) => a.ms - b.ms);
  return best;
}

it('a list of 5,000 crons is as little to draw as one of 50', async () => {
  await listOf(50);
  await listOf(5_000);
  const [few, many] = [await bestOf(50), await bestOf(5_000)];
  console.log(
    `50 crons: ${Math.round(few.ms)} ms, 5,000 crons: ${Math.round(many.ms)} ms, ${(many.ms / few.ms).toFixed(2)} x`,
  );
  expect(many.rows).toBe(few.rows);
  expect(many.nodes).toBeLessThan(few.nodes + 20);
  expect(many.nodes).toBeLessThan(2_000);
});

it('a reader gets to the last of 5,000', async () => {
  stage.fixture = { role: 'viewer', crons: 5_000 };
  const page = await stage.page('/crons/?offset=4950');
  await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain('cron-4999');
  expect(await page.locator('.pager').innerText()).toContain('4951–5000 of 5,000');
  await page.getByRole('button', { name: 'Previous' }).click();
  await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain('cron-4900');
  await page.goBack();
  await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain('cron-4999');
  await page.context().close();
});
