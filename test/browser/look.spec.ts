import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  leaveOutCacheWarm,
  letItRun,
  MARKUP,
  setUp,
  type Setup,
  cronPath,
  runPath,
  shows,
  SOON,
  useStage,
} from './stage.js';

/** `npm run e2e -- --screenshots` sets it; a plain run of the tests changes no picture. */
const SCREENSHOTS = process.env['FENCEPOST_SCREENSHOTS'] === 'true';

const FOLDER = fileURLToPath(new URL('../../docs/images', import.meta.url));

/** Those that the documents show, by their name here. */
const KEPT: Readonly<Record<string, string>> = {
  'list-light': 'crons',
  'cron-dark': 'cron-dark',
  'run-light': 'run',
  'uncertain-light': 'uncertain',
  'leases-light': 'leases',
  upcoming: 'upcoming',
  'list-phone': 'phone',
  'bull-board': 'bull-board',
};

const MAX_BYTES = 150_000;

/** Keeps a picture of what the window shows, where pictures are wanted, and this one is. */
async function screenshot(page: Page, name: string): Promise<void> {
  const kept = KEPT[name];
  if (!SCREENSHOTS || kept === undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  const path = `${FOLDER}/${kept}.png`;
  await page.screenshot({ path, animations: 'disabled' });
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`Expected a picture of at most ${MAX_BYTES} bytes, ${kept}.png has ${size}.`);
}

const stage = useStage({ FENCEPOST_LEASE_TTL: '10s' });
let setup: Setup;
beforeAll(async () => {
  setup = await setUp(stage);
  if (SCREENSHOTS) await letItRun(stage);
}, 120_000);

/** Each page, and something that stands on it once all is there. */
const PAGES: readonly (readonly [name: string, path: () => string, ready: string])[] = [
  ['list', () => '/crons/', 'tbody tr'],
  ['cron', () => `${cronPath('cache-warm')}?at=last`, '.steps'],
  ['cron-now', () => cronPath('cache-warm'), '.plain-list li'],
  ['cron-runs', () => `${cronPath('cache-warm')}?tab=runs`, 'tbody tr'],
  ['cron-definition', () => `${cronPath('cache-warm')}?tab=definition`, 'table'],
  ['cron-activity', () => `${cronPath('cache-warm')}?tab=activity`, 'tbody tr'],
  ['new-cron', () => '/crons/new-cron', 'form'],
  ['attention', () => '/crons/attention', '.asked .buttons'],
  ['runs', () => '/crons/runs', 'tbody tr'],
  ['notifications', () => '/crons/notifications', 'h2'],
  ['leases', () => '/crons/leases', 'table'],
  ['upcoming', () => '/crons/upcoming', '.density'],
  ['audit', () => '/crons/audit', 'h2'],
  ['doctor', () => '/crons/doctor', '.findings'],
  ['run', () => runPath(setup.done), 'pre.logs'],
  ['uncertain', () => runPath(setup.asking), 'pre.logs'],
  ['failed-run', () => runPath(setup.failed), '.notice.bad'],
  ['nowhere', () => '/crons/nowhere', 'h1'],
];

const WINDOW = { width: 1120, height: 780 };
/** As narrow as phones get, and wide; the pictures are of a common phone. */
const WIDTHS = SCREENSHOTS ? [390] : [1440, 390, 360];

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe takes for serious, in short; its script comes by the debugger, past the policy of the page. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: Violation[] = await page.evaluate('axe.run().then(({ violations }) => violations)');
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** As many as most pages have; a list of many has more of the same. */
const MAX_STOPS = 60;

/** What Tab leads to. `null`: the page is through. */
const STOP = `(() => {
  const { activeElement: at, body } = document;
  if (!at || at === body) return null;
  const [{ width, height }, { outlineStyle, outlineWidth }] = [at.getBoundingClientRect(), getComputedStyle(at)];
  const name = at.getAttribute('aria-label') || at.innerText || at.labels?.[0]?.innerText || at.title;
  const isSeen = width > 0 && height > 0 && outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
  return { html: at.outerHTML.slice(0, 120), isGood: isSeen && Boolean(name || at.textContent) };
})()`;

/** Places that Tab leads to and that have no name, no size or no mark of the focus. */
async function badStops(page: Page): Promise<string[]> {
  const bad: string[] = [];
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    await page.keyboard.press('Tab');
    const stop: { readonly html: string; readonly isGood: boolean } | null = await page.evaluate(STOP);
    if (stop === null) break;
    if (!stop.isGood) bad.push(stop.html);
  }
  return bad;
}

describe('with all that there is to show', () => {
  it.each(PAGES)(
    'the page %s has nothing serious in light, dark, or on a phone, and stays with its pod',
    async (name, path, ready) => {
      const page = await stage.visit(path(), { viewport: WINDOW });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.locator(ready).first().waitFor();
        expect(await violations(page)).toEqual([]);
        await screenshot(page, `${name}-${colorScheme}`);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      expect(await badStops(page)).toEqual([]);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 844 });
        // A drawing takes its new size a moment after the window.
        await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'), SOON).toBe(width);
      }
      await screenshot(page, `${name}-phone`);
      expect(stage.complaints()).toEqual([]);
    },
  );
});

describe('markup', () => {
  it('in an address is shown as text', async () => {
    const paths = [cronPath(MARKUP), runPath(`${MARKUP}@1`), `/crons/?search=${encodeURIComponent(MARKUP)}`];
    for (const path of paths) {
      const page = await stage.visit(path);
      await page.locator('.empty').first().waitFor();
      expect(await page.locator('main img').count()).toBe(0);
    }
    const page = await stage.visit(cronPath(MARKUP));
    await expect.poll(() => page.locator('h1').innerText(), SOON).toBe(MARKUP);
    // What is not there is answered with 400 or 404, and the browser says so; nothing else may be said.
    const others = stage.complaints().filter((text) => !/Failed to load resource.*(400|404)/.test(text));
    expect(others).toEqual([]);
  });

  it('in the error of a run is shown as text', async () => {
    const page = await stage.visit(runPath(setup.failed));
    await shows(page, `No paper: ${MARKUP}`);
    const attention = await stage.visit('/crons/attention');
    await shows(attention, MARKUP);
    for (const shown of [page, attention]) expect(await shown.locator('main img').count()).toBe(0);
    expect(stage.complaints()).toEqual([]);
  });
});

it('the board stays with its pod as well, and breaks no policy', async () => {
  const page = await stage.visit('/crons/queues/job-schedulers', { viewport: WINDOW });
  await page.getByText('nightly-export').first().waitFor();
  await screenshot(page, 'bull-board');
  const { queueName = '' } = (await stage.deployment.stores.queue.jobOf(setup.failed)) ?? {};
  await page.goto(stage.pod.url + `/crons/queues/queue/${queueName}/${encodeURIComponent(setup.failed)}`);
  await expect.poll(() => page.locator('body').innerText(), SOON).toContain('label-print');
  expect(await page.locator('img[src=x]').count()).toBe(0);
  expect(stage.complaints()).toEqual([]);
  if (SCREENSHOTS) await pictureUpcoming();
});

async function pictureUpcoming(): Promise<void> {
  await leaveOutCacheWarm(stage);
  const page = await stage.visit('/crons/upcoming', { viewport: WINDOW });
  await page.locator('.density').waitFor();
  await screenshot(page, 'upcoming');
}
