import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { occurrenceId } from '@fencepost/ledger/run';
import { givePast } from '../support/past-runs.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { cronPath, runPath, shows, useStage } from './stage.js';

const RUNS = 100_000;
const EVERY_MS = 5_000;
/** One in so many has failed. */
const FAILS_EACH = 10;
const MANY = 'many-runs';

let server: PrivateRedis;
beforeAll(async () => {
  server = await privateRedis();
});
afterAll(() => server.stop());

const stage = useStage({ FENCEPOST_LEASE_TTL: '10s', FENCEPOST_KEEP_RUNS: '200000' }, () => server.url);
let middle = '';

beforeAll(async () => {
  const { deployment } = stage;
  await deployment.pods.worker('worker', { env: { CRONS: 'shown' } });
  await stage.cron('few-runs', { handler: 'lasting', expression: '0 0 1 1 *' });
  await stage.cron(MANY, { handler: 'lasting', expression: '*/5 * * * * *' });
  await stage.cron('broken', { handler: 'failing' });
  const [done, failed] = [await stage.trigger('few-runs'), await stage.trigger('broken')];
  await Promise.all([stage.comesTo(done, 'succeeded'), stage.comesTo(failed, 'failed')]);
  const space = { redis: deployment.stores.redis, prefix: deployment.prefix };
  const last = Math.floor(Date.now() / EVERY_MS) * EVERY_MS - 60_000;
  const instants = Array.from({ length: RUNS }, (_, n) => last - (RUNS - 1 - n) * EVERY_MS);
  const isBad = (_: number, n: number) => n % FAILS_EACH === 0;
  const since = performance.now();
  await givePast(space, { cron: MANY, instants: instants.filter((at, n) => !isBad(at, n)), like: done });
  await givePast(space, { cron: MANY, instants: instants.filter(isBad), like: failed });
  console.log(`${RUNS} runs are on record after ${Math.round(performance.now() - since)} ms`);
  // A page takes the time between the cursor and the next instant for the period of the schedule.
  const cursor = async () => (await deployment.stores.ledger.readCron(MANY)).cursor ?? 0;
  await until('the cron is in time', async () => Date.now() - (await cursor()) < 2 * EVERY_MS);
  middle = occurrenceId({ cron: MANY, scheduledAt: instants[RUNS / 2 + 1] ?? 0 });
}, 120_000);

/** As much as fifty rows take. */
const MAX = { nodes: 1_500, bytes: 65_536 };

/** What a page costs its reader: elements, and bytes of answers. */
async function costOf(page: Page) {
  const answers = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/'))";
  return {
    nodes: Number(await page.evaluate("document.querySelectorAll('*').length")),
    bytes: Number(await page.evaluate(`${answers}.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)`)),
  };
}

const ONLY_NEWEST = 'Only the newest runs of each cron were searched.';

/** Each page, and words on it; among them those that say what is left out. */
const PAGES: readonly (readonly [name: string, path: () => string, words: readonly string[]])[] = [
  ['the home page', () => '/crons/', [MANY, 'at least 1,000 failed runs']],
  ['its page', () => cronPath(MANY), ['Expression']],
  ['its timeline', () => `${cronPath(MANY)}?tab=timeline`, ['Start delay']],
  ['its runs', () => `${cronPath(MANY)}?tab=runs`, ['Latest runs', 'succeeded', 'failed']],
  ['one of its runs', () => runPath(middle), ['succeeded', 'Previous run']],
  ['the search for its runs', () => `/crons/runs?cron=${MANY}`, [ONLY_NEWEST, 'Next page']],
  ['the search for its failures', () => `/crons/runs?cron=${MANY}&state=failed`, [ONLY_NEWEST, 'Next page']],
  ['the failures of all crons', () => '/crons/attention', [ONLY_NEWEST]],
  ['the forecast', () => '/crons/upcoming', [MANY]],
  ['the examination', () => '/crons/doctor', ['Redis']],
];

describe('with 100,000 runs of one cron', { timeout: 60_000 }, () => {
  it.each(PAGES)(
    '%s has no more to read and to draw than fifty rows, and says what it leaves out',
    async (name, path, words) => {
      const page = await stage.visit(path());
      await shows(page, ...words);
      const cost = await costOf(page);
      console.log(`${name}: ${cost.nodes} elements, ${cost.bytes} bytes`);
      expect(cost.nodes).toBeLessThan(MAX.nodes);
      expect(cost.bytes).toBeLessThan(MAX.bytes);
      expect(stage.complaints()).toEqual([]);
    },
  );

  it('a month of its timeline ends where it has to, and says so', async () => {
    const page = await stage.visit(`${cronPath(MANY)}?tab=timeline`);
    await shows(page, 'Start delay');
    await page.getByLabel('The last').selectOption('30d');
    await shows(page, 'Too many instants for this range');
    const cost = await costOf(page);
    console.log(`a month: ${cost.nodes} elements, ${cost.bytes} bytes`);
    expect(cost.nodes).toBeLessThan(MAX.nodes);
    expect(cost.bytes).toBeLessThan(2_000_000);
    expect(stage.complaints()).toEqual([]);
  });
});
