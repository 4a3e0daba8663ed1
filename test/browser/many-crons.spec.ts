import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Declaration } from '../../libs/ledger/src/catalog/definition.js';
import { SOON, useStage } from './stage.js';

const FEW = 50;
const MANY = 5_000;
const AT_ONCE = 250;

const stage = useStage({ FENCEPOST_LEASE_TTL: '10s' });

const named = (index: number) => `cron-${String(index).padStart(4, '0')}`;

function declared(index: number): Declaration {
  const policies = { misfire: 'skip', overlap: 'skip', graceMs: 60_000, catchUpWindowMs: null } as const;
  const definition = { name: named(index), expression: '0 0 1 1 *', timeZone: 'UTC', handler: 'many', ...policies };
  return { definition, disabled: false };
}

/** Each part by a build of its own: a build takes back what it no longer declares. */
async function declareFrom(from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += AT_ONCE) {
    const part = Array.from({ length: Math.min(AT_ONCE, to - at) }, (_, index) => declared(at + index));
    await stage.deployment.stores.catalog.declare(part, { seq: 1, source: `part-${at}` });
  }
}

interface Look {
  readonly nodes: number;
  readonly bytes: number;
}

async function look(total: number): Promise<Look> {
  const page = await stage.visit('/crons/');
  const answer = page.waitForResponse((response) => new URL(response.url()).pathname === '/api/crons');
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

/** Until the page counts all of them: the pods read new ones when they look next. */
async function isComplete(page: Page, total: number): Promise<void> {
  const count = () => page.locator('.total').first().innerText();
  await expect.poll(count, { timeout: 60_000 }).toContain(total.toLocaleString('en'));
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

it('the last of 5,000 is found, and paged to', async () => {
  const page = await stage.visit(`/crons/?offset=${MANY - FEW}`);
  await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain(named(MANY - 1));
  expect(await page.locator('.pager').innerText()).toContain('4951–5000 of 5,000');
  await page.getByRole('button', { name: 'Previous' }).click();
  await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain(named(MANY - 2 * FEW));
  await page.goBack();
  await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain(named(MANY - 1));
  await page.getByLabel('Search').fill(named(4_321));
  await expect.poll(() => page.locator('tbody tr').count(), SOON).toBe(1);
  expect(await page.locator('tbody').innerText()).toContain(named(4_321));
  expect(stage.complaints()).toEqual([]);
});
