import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { SCHEMAS } from '@fencepost/operations/presenting';
import { crons, detail, timeline, why } from './fixture-crons.js';
import { AUDIT, entry, FINDINGS, JOURNAL, LEASES, FORECAST, OWN_LEASES, PODS, WATCH } from './fixture-rest.js';
import { at, CRON, LOST_RUN, REPORT } from './fixture-runs.js';
import { SOON, useWebStage } from './web-stage.js';

const stage = useWebStage();

const open = (path: string): Promise<Page> => stage.page(path);

const main = async (shown: Page) => shown.locator('main').innerText();

/** Where each page is, and words that stand on it only when what the API said has come through. */
const PAGES: readonly (readonly [path: string, heading: string, words: readonly string[]])[] = [
  [
    '/crons/',
    'Crons',
    [CRON, 'invoice-collect', 'paused', 'removed', 'on request', 'failing (6 in a row)', '9 crons are failing.'],
  ],
  [`/crons/cron/${CRON}`, CRON, ['every hour', 'Next instants', 'Latest runs', 'scheduler-1/a1b2c3']],
  [`/crons/cron/${CRON}?tab=timeline`, CRON, ['skipped', 'merged', 'missed', 'ahead', 'backfilled', 'run by hand']],
  [`/crons/cron/${CRON}?tab=definition`, CRON, ['Generation 2', 'expression: 30 * * * * → 0 * * * *', 'first kept']],
  [`/crons/cron/${CRON}?tab=activity`, CRON, ['refused', 'the mail server moves']],
  ['/crons/attention', 'Needs action', ['its worker died', `${LOST_RUN}/send-mail`, 'answered 503']],
  ['/crons/leases', 'Leases', ['worker-1/d4e5f6', 'billing, 42', 'Crons held', '1763607590002', 'lease lost']],
  ['/crons/upcoming', 'Upcoming', ['1.3K', '1,200 crons', 'Clocks go from 03:00 back', 'cache-warm']],
  ['/crons/notifications', 'Notifications', ['tag billing', 'the bank is down', 'failed (503)', 'two secrets']],
  ['/crons/audit', 'Audit', ['anna', 'the mail server moves', 'from 10.0.0.7']],
  ['/crons/doctor', 'Doctor', ['allkeys-lru', 'Set maxmemory-policy noeviction', 'bad']],
  [
    `/crons/run/${encodeURIComponent(LOST_RUN)}`,
    `Run ${LOST_RUN}`,
    ['render', 'unknown', '4,120 done', 'write refused', '[attempt 2'],
  ],
  ['/crons/nowhere', 'No such page', ['To the list of crons']],
];

describe('the page', () => {
  it.each(PAGES)('%s shows what the API said, under a strict policy', async (path, heading, words) => {
    const shown = await open(path);
    await expect.poll(() => shown.locator('h1').innerText(), SOON).toBe(heading);
    for (const word of words) await expect.poll(() => main(shown), SOON).toContain(word);
    expect(await shown.title()).toBe(`${heading} · Fencepost`);
    expect(stage.complaints).toEqual([]);
  });

  it('asks the same of the API as the API has', () => {
    for (const one of crons(8)) SCHEMAS.CronSummary.parse(one);
    SCHEMAS.CronDetail.parse(detail());
    SCHEMAS.Timeline.parse(timeline());
    SCHEMAS.WhyReport.parse(why(at(0)));
    SCHEMAS.RunReport.parse(REPORT);
    SCHEMAS.Forecast.parse(FORECAST);
    for (const one of PODS) SCHEMAS.Pod.parse(one);
    for (const one of LEASES) SCHEMAS.Lease.parse(one);
    for (const one of OWN_LEASES) SCHEMAS.OwnLease.parse(one);
    SCHEMAS.Watch.parse(WATCH);
    for (const one of FINDINGS) SCHEMAS.Finding.parse(one);
    for (const one of AUDIT) SCHEMAS.AuditRecord.parse(one);
    for (const one of JOURNAL) expect(() => SCHEMAS.JournalEntry.parse(one)).not.toThrow();
  });

  it('marks each outcome with a shape of its own, and says it in words', async () => {
    const shown = await open(`/crons/cron/${CRON}?tab=timeline`);
    const marks = shown.locator('.mark-button');
    await expect.poll(() => marks.count(), SOON).toBe(timeline().items.length);
    const shapes = new Map<string, string>();
    for (const { outcome } of timeline().items) {
      const shape = await shown.locator(`.legend .mark.${outcome} path`).first().getAttribute('d');
      shapes.set(outcome, shape ?? '');
    }
    expect(shapes.size).toBe(12);
    expect(new Set(shapes.values()).size).toBe(12);
    await expect.poll(() => marks.nth(6).getAttribute('title'), SOON).toContain('skipped (overlap)');
  });

  it('says why for a mark that is chosen', async () => {
    const shown = await open(`/crons/cron/${CRON}?tab=timeline`);
    await shown.locator('.mark-button').nth(4).click();
    await expect.poll(() => main(shown), SOON).toContain('nobody knows whether send-mail has happened');
    expect(decodeURIComponent(shown.url())).toContain(`?at=${timeline().items[4]?.scheduledAt}`);
    await shown.getByRole('button', { name: 'Instant after' }).click();
    await expect.poll(() => decodeURIComponent(shown.url()), SOON).toContain(`?at=${at(3_600)}`);
  });

  it('shows what is due of the crons with a tag, and keeps the tag in the address', async () => {
    const shown = await open(`/crons/upcoming?at=${at(3 * 3_600)}`);
    await expect.poll(() => main(shown), SOON).toContain('1,200 crons due at');
    await shown.getByRole('searchbox', { name: 'Tag' }).fill('billing');
    await expect.poll(() => main(shown), SOON).toContain('1 cron due at');
    await expect.poll(() => main(shown), SOON).not.toContain('1,200 crons'); // The list is a question of its own.
    await expect.poll(() => new URL(shown.url()).searchParams.get('tag'), SOON).toBe('billing');
  });

  it('has the figures of the chart as a table as well', async () => {
    const shown = await open(`/crons/cron/${CRON}?tab=timeline`);
    await shown.getByText('As a table').click();
    await expect
      .poll(
        () => shown.getByRole('table', { name: 'Percentiles of duration and start delay' }).getByRole('row').count(),
        SOON,
      )
      .toBeGreaterThan(15);
    await expect.poll(() => shown.locator('.chart canvas').count(), SOON).toBe(1);
  });

  it('has each attempt of a run, what was refused of it, and what nobody recorded', async () => {
    const shown = await open(`/crons/run/${encodeURIComponent(LOST_RUN)}`);
    const rows = shown.getByRole('table', { name: 'Attempts, newest first' }).locator('tbody tr');
    await expect.poll(() => rows.count(), SOON).toBe(2);
    await expect
      .poll(() => rows.nth(0).innerText(), SOON)
      .toMatch(/^2\s[^]*worker-2\/e7f8a9[^]*1763607590007[^]*uncertain/);
    const first = await rows.nth(1).innerText();
    expect(first).toMatch(/^1\s[^]*worker-1\/d4e5f6[^]*1763607590005[^]*refused/);
    expect(first).toContain('fence 1763607590005 against 1763607590007, which is current');
    expect(await main(shown)).toContain('A killed worker records no end.');
    const refusals = shown.getByRole('table', { name: 'Refusals, newest first' }).locator('tbody tr');
    await expect
      .poll(() => refusals.allInnerTexts(), SOON)
      .toEqual([
        expect.stringMatching(/Beginning or recording an effect[^]*the attempt is stale[^]*7590005[^]*7590007/),
      ]);
  });

  it.each(['/crons/attention', `/crons/run/${encodeURIComponent(LOST_RUN)}`])(
    '%s says once that nobody knows whether an effect happened',
    async (path) => {
      const shown = await open(path);
      await expect.poll(() => main(shown), SOON).toContain('its worker died: it may or may not have happened');
      // Those of a colour: that the cron is muted stands there too, once the mutes have come.
      await expect.poll(() => shown.locator('.notice.warn, .notice.bad').count(), SOON).toBe(1);
      expect(await main(shown)).not.toContain('EffectAskedError');
      expect(await main(shown)).not.toContain('The latest attempt failed');
    },
  );

  it('lists what the application holds: what it is, by whom, since when; and goes on after a page', async () => {
    const shown = await open('/crons/leases');
    const table = shown.getByRole('table', { name: 'Leases of the application' });
    const role = table.getByRole('row', { name: /^role:sweeper/ });
    await expect.poll(() => role.innerText(), SOON).toContain('unknown');
    await expect
      .poll(() => table.getByRole('row', { name: /^gpu.*place of a semaphore.*unknown whether live/ }).count(), SOON)
      .toBe(1);
    expect(
      await table
        .getByRole('row', { name: /^invoice:42/ })
        .locator('time')
        .count(),
    ).toBe(1);
    const pager = shown.getByRole('region', { name: 'Leases of the application' }).getByRole('navigation');
    await pager.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => pager.innerText(), SOON).toContain('Page 2');
    await expect.poll(() => pager.getByRole('button', { name: 'Next' }).isDisabled(), SOON).toBe(true);
    await shown.getByLabel('Kind').selectOption('election');
    await expect.poll(() => table.getByRole('row').count(), SOON).toBe(2);
    await expect.poll(() => pager.innerText(), SOON).toContain('Page 1');
  });

  it('counts down what is left of a lease', async () => {
    const shown = await open('/crons/leases');
    const left = shown.getByRole('row', { name: /1763607590002/ });
    await expect.poll(() => left.innerText(), SOON).toContain('8 s');
    await expect.poll(() => left.innerText(), SOON).toContain('7 s');
  });
});

describe('what happens meanwhile', () => {
  it('is asked for when an event concerns the page', async () => {
    const shown = await open(`/crons/run/${encodeURIComponent(LOST_RUN)}`);
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toContain('live');
    const asked = shown.waitForRequest((request) => request.url().includes('/api/runs/'));
    stage.tell(entry({ runId: LOST_RUN, event: 'attempt.begun' }));
    await asked;
    expect(stage.complaints).toEqual([]);
  });

  it('is said to be missing while the connection is away, and asked for when it is back', async () => {
    const shown = await open('/crons/');
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toContain('live');
    stage.dropStreams();
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toContain('reconnecting');
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toBe('live');
  });
});

describe('a store that does not answer its scheduler', () => {
  it('is said once and within two seconds, and what was known is dimmed with its time', async () => {
    const shown = await open('/crons/');
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toBe('live');
    stage.isBlind = true;
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toBe('store not responding');
    stage.failing = 503;
    await expect.poll(() => shown.getByText('This is out of date.').count(), SOON).toBe(1);
    await expect.poll(() => main(shown), SOON).toMatch(/as of \d\d:\d\d:\d\d/);
    expect(await main(shown)).not.toContain('Crons go on');
    stage.failing = null;
    stage.isBlind = false;
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toBe('live');
    await expect.poll(() => shown.getByText('This is out of date.').count(), SOON).toBe(0);
  });
});

describe('an answer that is late', () => {
  it('leaves what is known, says of when it is, and is asked for once', async () => {
    const shown = await open('/crons/doctor');
    await expect.poll(() => main(shown), SOON).toContain('allkeys-lru');
    const release = hold();
    let asked = 0;
    shown.on('request', (request) => (asked += request.url().endsWith('/api/doctor') ? 1 : 0));
    stage.dropStreams();
    await expect.poll(() => main(shown), SOON).toMatch(/as of \d\d:\d\d:\d\d; the next answer takes longer/);
    expect([asked, await main(shown)]).toEqual([1, expect.stringContaining('allkeys-lru')]);
    release();
    await expect.poll(() => main(shown), SOON).not.toContain('takes longer');
  });

  it('is asked for once more after it came, where something happened meanwhile', async () => {
    const shown = await open('/crons/login');
    await shown.clock.install();
    await shown.goto(stage.url(`/crons/run/${encodeURIComponent(LOST_RUN)}`));
    await expect.poll(() => shown.locator('.live').innerText(), SOON).toBe('live');
    await expect.poll(() => main(shown), SOON).toContain('4,120 done');
    const release = hold();
    let asked = 0;
    shown.on('request', (request) => (asked += request.url().includes(encodeURIComponent(LOST_RUN)) ? 1 : 0));
    stage.tell(entry({ runId: LOST_RUN, event: 'attempt.begun' }));
    await expect.poll(() => main(shown), SOON).toContain('the next answer takes longer');
    stage.tell(entry({ runId: LOST_RUN, event: 'attempt.begun' }));
    // Past the look by the clock, and past what holds back questions after an event.
    await shown.clock.runFor(6_000);
    expect(asked).toBe(1);
    release();
    await expect.poll(() => asked, SOON).toBe(2);
  });

  it('that is the first one is said to be waited for', async () => {
    const release = hold();
    const shown = await open('/crons/login');
    await expect.poll(() => main(shown), SOON).toContain('Checking your session');
    release();
    await expect.poll(() => main(shown), SOON).not.toContain('Checking your session');
    const again = hold();
    await shown.getByRole('link', { name: 'Doctor' }).click();
    await expect.poll(() => main(shown), SOON).toContain('the answer takes longer than usual');
    again();
    await expect.poll(() => main(shown), SOON).toContain('allkeys-lru');
  });
});

/** Answers wait until the function that this returns is called. */
function hold(): () => void {
  let release = () => {};
  stage.held = new Promise((resolve) => (release = resolve));
  return release;
}

describe('an answer that is none', () => {
  it.each([
    [503, 'The store is not responding'],
    [403, 'Access denied'],
    [429, 'Too many requests'],
  ])('%i says what to do', async (status, words) => {
    const shown = await open('/crons/doctor');
    await expect.poll(() => main(shown), SOON).toContain('allkeys-lru');
    stage.failing = status;
    await shown.getByRole('link', { name: 'Audit' }).click();
    await expect.poll(() => main(shown), SOON).toContain(words);
    stage.failing = null;
    await shown.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => main(shown), SOON).toContain('the mail server moves');
  });

  it('401 asks for a token where one is, and then goes on there', async () => {
    stage.failing = 401;
    const shown = await open('/crons/doctor');
    await shown.getByLabel('Token').fill('a-token');
    await shown.keyboard.press('Enter');
    await expect.poll(() => main(shown), SOON).toContain('allkeys-lru');
    expect(stage.posted).toEqual([{ path: '/session', body: { token: 'a-token' } }]);
  });

  it('a person who signs out is asked for a token, unless nobody heard of it', async () => {
    const shown = await open('/crons/doctor');
    stage.failing = 503;
    await shown.getByRole('button', { name: 'Sign out' }).click();
    await expect.poll(() => shown.locator('.announcer').innerText(), SOON).toContain('You are still signed in');
    stage.failing = null;
    await shown.getByRole('button', { name: 'Sign out' }).click();
    await expect.poll(() => main(shown), SOON).toContain('No token yet?');
  });

  it('of a cron that is not there says so', async () => {
    const shown = await open('/crons/cron/zebra');
    await expect.poll(() => main(shown), SOON).toContain('the cron "zebra" does not exist');
  });
});
