import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Declaration } from '@fencepost/ledger/catalog';
import { givePast } from '../support/past-runs.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { SOON, useStage, cronPath, isMarked, mark, runPath, shows } from './stage.js';

let server: PrivateRedis;
beforeAll(async () => {
  server = await privateRedis();
});
afterAll(() => server.stop());

const FEW = 50;

/** Each time is the middle one of so many. */
const LOOKS = 5;

const middleOf = (times: readonly number[]) => Math.round(times.toSorted((a, b) => a - b)[LOOKS >> 1] ?? NaN);

const MANY = 5_000;

const AT_ONCE = 250;

/** Each has so many runs of the last hours. */
const RUNS = 15;
const HOUR_MS = 3_600_000;
/** One in so many fails since its last three runs. */
const FAILS_EACH = 500;

const named = (index: number) => `cron-${String(index).padStart(4, '0')}`;

function declared(index: number): Declaration {
  const policies = { misfire: 'skip', overlap: 'skip', graceMs: 60_000, catchUpWindowMs: null } as const;
  const definition = { name: named(index), expression: '0 0 1 1 *', timeZone: 'UTC', handler: 'many', ...policies };
  return { definition, disabled: false };
}

interface Look {
  readonly nodes: number;
  readonly bytes: number;
  /** From the navigation to the first row, in a browser that has been here before. */
  readonly firstRowMs: number;
  /** From the last key to the rows that fit. */
  readonly filteredMs: number;
}

/** Notes when the first row of the list stands there; the clock of a page begins with its navigation. */
const NOTE_FIRST_ROW = `(() => {
  const look = () => (document.querySelector('tbody tr') ? (window.firstRowAt = performance.now()) : requestAnimationFrame(look));
  look();
})()`;

/** Types a whole name at once, as one who pastes it. */
const filterBy = (name: string) => `new Promise((resolve) => {
  const field = document.querySelector('[role=search] input[type=search]');
  const since = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, '${name}');
  field.dispatchEvent(new Event('input', { bubbles: true }));
  const rows = () => [...document.querySelectorAll('tbody tr')];
  const isDone = () => rows().length === 1 && rows()[0].textContent.includes('${name}');
  const look = () => (isDone() ? resolve(performance.now() - since) : requestAnimationFrame(look));
  look();
})`;

const ANSWERS = `performance.getEntriesByType('resource').flatMap(({ name, decodedBodySize }) =>
  name.includes('/api/') && !name.endsWith('/events') ? [{ url: name, bytes: decodedBodySize }] : [])`;

/** Of the crons that the page shows. */
const UNHELD = `fetch('/crons/api/crons?limit=${FEW}').then((answer) => answer.json()).then(({ items }) =>
  items.filter(({ lease }) => lease === null).length)`;

/** Fifty rows with thirty marks each. */
const MAX_BYTES = 400_000;

interface Answer {
  readonly url: string;
  readonly bytes: number;
}

function listsAll({ url, bytes }: Answer): boolean {
  const { pathname, searchParams } = new URL(url);
  return bytes > MAX_BYTES || (pathname.endsWith('/api/crons') && searchParams.get('limit') !== String(FEW));
}

/** Until the page counts all of them, and knows history and lease of each: the pods read new ones when they look next. */
async function isComplete(page: Page, total: number): Promise<void> {
  const count = () => page.locator('.totals li').first().innerText();
  await expect.poll(count, { timeout: 60_000 }).toContain(total.toLocaleString('en'));
  const strip = () => page.getByRole('region', { name: 'Needs action' }).innerText();
  await expect.poll(strip, { timeout: 90_000 }).not.toContain('has not been read yet');
  // A row whose lease is held has more to read and to draw.
  await expect.poll(() => page.evaluate(UNHELD), { timeout: 60_000 }).toBe(0);
}

describe('a page of many crons', () => {
  const stage = useStage({ FENCEPOST_LEASE_TTL: '10s' }, () => server.url);

  /** Each part by a build of its own: a build takes back what it no longer declares. */
  async function declareFrom(from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += AT_ONCE) {
      const part = Array.from({ length: Math.min(AT_ONCE, to - at) }, (_, index) => declared(at + index));
      await stage.deployment.stores.catalog.declare(part, { revision: 1, app: `part-${at}` });
    }
  }

  async function giveHistories(done: string, failed: string): Promise<void> {
    const space = { redis: stage.deployment.stores.redis, prefix: stage.deployment.prefix };
    const newest = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const instants = Array.from({ length: RUNS }, (_, n) => newest - (RUNS - n) * HOUR_MS);
    for (let index = 0; index < MANY; index += 1) {
      const fails = index % FAILS_EACH === 0 ? 3 : 0;
      const [good, bad] = [instants.slice(0, RUNS - fails), instants.slice(RUNS - fails)];
      await givePast(space, { cron: named(index), instants: good, like: done });
      await givePast(space, { cron: named(index), instants: bad, like: failed });
    }
  }

  beforeAll(async () => {
    await stage.deployment.pods.worker('worker', { env: { CRONS: 'shown' } });
    const [done, failed] = [await endedRun('good', 'lasting'), await endedRun('bad', 'failing')];
    await giveHistories(done, failed);
    for (const cron of ['good', 'bad'])
      await stage.deployment.stores.crons.remove(cron, { by: 'the test', reason: 'done' });
  }, 120_000);

  async function endedRun(cron: string, handler: string): Promise<string> {
    await stage.cron(cron, { handler });
    const runId = await stage.trigger(cron);
    await stage.comesTo(runId, handler === 'lasting' ? 'succeeded' : 'failed');
    return runId;
  }

  async function look(total: number): Promise<Look> {
    const page = await stage.visit('/crons/');
    await isComplete(page, total);
    await page.addInitScript(NOTE_FIRST_ROW);
    const times: number[] = [];
    for (let n = 0; n < LOOKS; n += 1) {
      await page.reload();
      await page
        .locator('tbody tr')
        .nth(FEW - 1)
        .waitFor();
      times.push(Number(await page.evaluate('window.firstRowAt')));
    }
    const answers: readonly Answer[] = await page.evaluate(ANSWERS);
    const nodes = Number(await page.evaluate("document.querySelectorAll('*').length"));
    const filtered: number[] = [];
    for (let n = 0; n < LOOKS; n += 1) filtered.push(Number(await page.evaluate(filterBy(named(FEW - 1 - n)))));
    expect(answers.filter(listsAll)).toEqual([]);
    expect(stage.complaints()).toEqual([]);
    await stage.endVisits();
    const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0);
    return { nodes, bytes, firstRowMs: middleOf(times), filteredMs: middleOf(filtered) };
  }

  it('a list of 5,000 crons is no more to read and to draw than one of 50', { timeout: 240_000 }, async () => {
    await declareFrom(0, FEW);
    const few = await look(FEW);
    await declareFrom(FEW, MANY);
    const many = await look(MANY);
    console.log(`${FEW} crons: ${JSON.stringify(few)}\n${MANY} crons: ${JSON.stringify(many)}`);
    // Of the fifty shown, ten fail where there are 5,000, and one where there are 50: its row has more to draw.
    expect(many.nodes).toBeLessThan(few.nodes * 1.15);
    expect(many.bytes).toBeLessThan(few.bytes * 1.2);
  });

  it('those that fail stand first, and one of 5,000 is found', async () => {
    const page = await stage.visit('/crons/');
    await expect.poll(() => page.locator('tbody tr').first().innerText(), SOON).toContain('failing (3 in a row)');
    await shows(page.getByRole('region', { name: 'Needs action' }), `${MANY / FAILS_EACH} crons are failing.`);
    await page.goto(`${stage.pod.url}/crons/?sort=name`);
    await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain(named(0));
    await page.locator('.pager').getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain(named(FEW));
    await page.getByLabel('Search').fill(named(4_321));
    await expect.poll(() => page.locator('tbody tr').count(), SOON).toBe(1);
    await expect.poll(() => page.locator('tbody').innerText(), SOON).toContain(named(4_321));
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
