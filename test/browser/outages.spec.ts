import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newToken, type AccessRole } from '@fencepost/operations/access-tokens';
import { freePort } from '../../scripts/redis.mjs';
import type { Pod } from '../support/pod.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { serverFolder } from '../support/server-process.js';
import { cronPath, runPath, setUp, shows, SOON, TOKENS, useStage, type Setup } from './stage.js';

let server: PrivateRedis;
beforeAll(async () => {
  server = await privateRedis({ appendonly: 'yes', dir: serverFolder('outages-') });
});
afterAll(() => server.stop());
const stage = useStage({ FENCEPOST_LEASE_TTL: '10s' }, () => server.url);

const MUTE = { cron: 'nightly-export', reason: 'the bank is down' };
let setup: Setup;
/** The one behind the pages: it has one address for all its lives. */
let behind: Pod;
let port: number;

const startBehind = (env: Readonly<Record<string, string>> = {}) =>
  stage.deployment.pods.scheduler('behind', { env: { PORT: String(port), ...env } });

beforeAll(async () => {
  port = await freePort();
  [setup, behind] = await Promise.all([setUp(stage), startBehind()]);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const headers = { authorization: `Bearer ${TOKENS.admin.secret}`, 'content-type': 'application/json' };
  const order = { method: 'POST', headers, body: JSON.stringify({ ...MUTE, until }) };
  expect((await fetch(`${stage.pod.url}/crons/api/mutes`, order)).status).toBeLessThan(300);
}, 120_000);

/** Each page, and words on it that must stand there as long as it is shown. */
const PAGES: readonly (readonly [path: () => string, knows: string])[] = [
  [() => '/crons/', 'alarms muted until'],
  [() => cronPath('nightly-export'), MUTE.reason],
  [() => `${cronPath('label-print')}?tab=timeline`, 'run by hand'],
  [() => `${cronPath('nightly-export')}?tab=runs`, 'succeeded'],
  [() => `${cronPath('nightly-export')}?tab=definition`, 'Generation 1'],
  [() => `${cronPath('nightly-export')}?tab=activity`, 'lease acquired'],
  [() => runPath(setup.done), 'Alarms are muted'],
  [() => runPath(setup.asking), 'send-mail'],
  [() => '/crons/attention', 'send-mail'],
  [() => '/crons/runs', 'label-print'],
  [() => '/crons/leases', 'nightly-export'],
  [() => '/crons/upcoming', 'Stampedes'],
  [() => '/crons/notifications', MUTE.reason],
  [() => '/crons/audit', MUTE.reason],
  [() => '/crons/doctor', 'newsletter'],
];

/** What can't be known while nobody answers. */
const FALSE =
  /All is well|\b0 (schedulers|workers|crons|running|waiting)|no failed runs|No (runs?|lease|crons?|pod|changes) (yet|match|is|has)|Nothing is muted|Nobody is told|Nothing was checked/;

const ROLES: readonly AccessRole[] = ['viewer', 'operator', 'admin'];

interface Opened {
  readonly path: string;
  readonly knows: string;
  readonly page: Page;
}

async function openAll(): Promise<Opened[]> {
  const opened = await Promise.all(
    PAGES.map(async ([path, knows], index) => {
      // Of several people: what one of them may ask at once is bounded.
      const as = ROLES[index % ROLES.length] ?? 'viewer';
      return { path: path(), knows, page: await stage.visit(path(), { pod: behind, as, stays: true }) };
    }),
  );
  await each(opened, isFreshAgain);
  return opened;
}

/** @returns the longest time from now until a page's pill says this, milliseconds */
async function pillsSay(opened: readonly Opened[], words: string): Promise<number> {
  const since = performance.now();
  const took = opened.map(async ({ page }) => {
    await page.locator('.live').filter({ hasText: words }).waitFor();
    return performance.now() - since;
  });
  return Math.max(...(await Promise.all(took)));
}

const text = (page: Page) => page.locator('main').innerText();

async function isKnownToBeOld({ page, knows }: Opened): Promise<void> {
  await shows(page, 'This is out of date.');
  await expect.poll(() => text(page), SOON).toMatch(/as of \d\d:\d\d:\d\d/);
  const shown = await text(page);
  expect(shown).toContain(knows);
  expect(shown).not.toContain('All is well');
}

async function isFreshAgain({ page, knows }: Opened): Promise<void> {
  await page.locator('.live.live').waitFor();
  await expect.poll(() => text(page), SOON).not.toMatch(/out of date|as of \d\d:|Try again/);
  await shows(page, knows);
}

/** To somebody who opens it only now. */
async function saysThatNothingIsKnown({ page, knows }: Opened): Promise<void> {
  await page.reload();
  await shows(page, 'The store is not responding');
  const shown = await text(page);
  expect(shown).not.toMatch(FALSE);
  expect(shown).not.toContain(knows);
}

/** All at once; an error names the pages that it is about. */
async function each(opened: readonly Opened[], look: (one: Opened) => Promise<void>): Promise<void> {
  const looks = await Promise.allSettled(opened.map(look));
  const wrong = looks.flatMap((one, n) =>
    one.status === 'rejected' ? [`${opened[n]?.path}: ${String(one.reason).slice(0, 400)}`] : [],
  );
  expect(wrong).toEqual([]);
}

interface Outage {
  readonly pill: string;
  readonly strike: () => unknown;
  readonly heal: () => unknown;
}

const OUTAGES: readonly (readonly [what: string, outage: Outage])[] = [
  ['Redis is gone', { pill: 'store not responding', strike: () => server.stop(), heal: () => server.restartEmpty() }],
  ['Redis is silent', { pill: 'store not responding', strike: () => server.freeze(), heal: () => server.thaw() }],
  ['its pod is silent', { pill: 'reconnecting', strike: () => behind.freeze(), heal: () => behind.thaw() }],
  [
    'its pod is gone',
    {
      pill: 'reconnecting',
      strike: () => behind.kill(),
      heal: async () => {
        behind = await startBehind();
      },
    },
  ],
];

describe('every page', { timeout: 120_000 }, () => {
  let opened: readonly Opened[];
  it('stands there whole, without a complaint', async () => {
    opened = await openAll();
    expect(stage.complaints()).toEqual([]);
  });

  it.each(OUTAGES)('says what it knows and since when while %s, and recovers', async (what, outage) => {
    const told = pillsSay(opened, outage.pill);
    await outage.strike();
    try {
      console.log(`${what}: the last of ${opened.length} pages says so after ${Math.round(await told)} ms`);
      await each(opened, isKnownToBeOld);
      // Only a page that is served can be opened.
      if (what === 'Redis is gone') await each(opened, saysThatNothingIsKnown);
    } finally {
      await outage.heal();
    }
    await each(opened, isFreshAgain);
  });

  it('whose token is revoked says that the session ended, shows nothing, and goes on after signing in', async () => {
    const next = newToken('vera', 'viewer');
    await behind.kill();
    behind = await startBehind({ FENCEPOST_TOKENS: next.line });
    await each(opened, async ({ page, knows }) => {
      await shows(page, 'Your session has ended.');
      expect(await text(page)).not.toContain(knows);
      await page.getByLabel('Token').fill(next.secret);
      await page.keyboard.press('Enter');
    });
    await each(opened, isFreshAgain);
  });
});
