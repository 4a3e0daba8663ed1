import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { overflowOf, violations } from './accessible.js';
import { detail, timeline } from './fixture-crons.js';
import { CRON } from './fixture-runs.js';
import { SOON, useWebStage } from './web-stage.js';

const stage = useWebStage();

const TABS = ['now', 'timeline', 'runs', 'definition', 'activity'] as const;

async function open(tab: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await stage.page(`/crons/cron/${CRON}${tab === '' ? '' : `?tab=${tab}`}`, options);
  await page.getByRole('tabpanel').locator('.card').first().waitFor();
  return page;
}

const chosen = (shown: Page) => shown.locator('[role=tab][aria-selected=true]').innerText();
const search = (shown: Page) => new URL(shown.url()).search;

describe('the head of a cron', () => {
  it('says what it is for, whom to turn to, and leads to its runbook without handing the page over', async () => {
    const shown = await open('');
    await shown.getByText('Collects the figures of the hour').waitFor();
    await expect.poll(() => shown.getByText('Owner: Team Billing').count(), SOON).toBe(1);
    const link = shown.getByRole('link', { name: 'Runbook' });
    await expect.poll(() => link.getAttribute('href'), SOON).toBe('https://wiki.example/runbooks/report');
    await expect.poll(() => link.getAttribute('rel'), SOON).toBe('noopener noreferrer');
    await expect.poll(() => link.getAttribute('target'), SOON).toBe('_blank');
  });

  it('says what is wrong with it, since when, and what its newest run failed with', async () => {
    const shown = await open('');
    const health = { state: 'failing', since: '2026-11-27T12:00:00.000Z', failures: 43, text: 'failing (43 in a row)' };
    const last = { ...detail().last, state: 'failed', error: 'Error: no paper\n    at print' } as never;
    const json = detail({ health: health as never, last });
    await shown.route(`**/api/crons/${CRON}`, (route) => route.fulfill({ json }));
    await shown.reload();
    const notice = shown.locator('.notice.bad');
    await expect.poll(() => notice.innerText(), SOON).toMatch(/failing \(43 in a row\).*for .*: Error: no paper$/);
    expect(await shown.getByText('active', { exact: true }).count()).toBe(0);
  });

  it('has no link that would run a script, whatever the definition says', async () => {
    const shown = await open('');
    const json = detail({ owner: 'Mallory', runbookUrl: 'javascript:alert(1)' });
    await shown.route(`**/api/crons/${CRON}`, (route) => route.fulfill({ json }));
    await shown.reload();
    await shown.getByText('Owner: Mallory').waitFor();
    expect(await shown.getByRole('link', { name: 'Runbook' }).count()).toBe(0);
  });
});

describe('the tabs of a cron', () => {
  it('are one stop of the tab key, and arrows, Home and End go through them', async () => {
    const shown = await open('');
    expect(await chosen(shown)).toBe('Now');
    await shown.getByRole('tab', { name: 'Now' }).focus();
    await shown.keyboard.press('ArrowRight');
    await expect.poll(() => chosen(shown), SOON).toBe('Timeline');
    expect(search(shown)).toBe('?tab=timeline');
    await shown.keyboard.press('End');
    await expect.poll(() => chosen(shown), SOON).toBe('Activity');
    await shown.keyboard.press('ArrowRight');
    await expect.poll(() => chosen(shown), SOON).toBe('Now');
    await expect.poll(() => shown.evaluate('document.activeElement.innerText'), SOON).toBe('Now');
    await expect.poll(() => shown.locator('[role=tab][tabindex="0"]').count(), SOON).toBe(1);
    await expect
      .poll(() => shown.getByRole('tabpanel').getAttribute('aria-labelledby'), SOON)
      .toBe(await shown.getByRole('tab', { name: 'Now' }).getAttribute('id'));
  });

  it('come back with the address, and an instant that is asked about is on the timeline', async () => {
    const shown = await open('definition');
    expect(await chosen(shown)).toBe('Definition');
    const at = encodeURIComponent(timeline().items[4]?.scheduledAt ?? '');
    await shown.goto(stage.url(`/crons/cron/${CRON}?at=${at}`));
    await expect.poll(() => chosen(shown), SOON).toBe('Timeline');
    await expect.poll(() => shown.locator('.answer').count(), SOON).toBe(1);
  });

  it.each(TABS)('fit two screens: %s', async (tab) => {
    const shown = await open(tab, { viewport: { width: 1_440, height: 900 } });
    expect(await shown.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(1_800);
  });

  // With marks of every kind; the other tabs are looked at before real pods.
  it('fit 390 and 1440 px with a full timeline, and axe finds nothing serious, light and dark', async () => {
    for (const [width, colorScheme] of [
      [390, 'dark'],
      [1_440, 'light'],
      [1_440, 'dark'],
    ] as const) {
      const shown = await open('timeline', { colorScheme, viewport: { width, height: 900 } });
      expect(await overflowOf(shown)).toBe(0);
      expect(await violations(shown)).toEqual([]);
      await shown.context().close();
    }
  });
});

describe('the calendar', () => {
  it('has each instant in the column of its hour, and now as a line', async () => {
    const shown = await open('timeline');
    await shown.locator('.mark-button').first().waitFor();
    await shown.getByLabel('Times').selectOption('utc');
    const columns = await shown.evaluate<number[]>(
      "[...document.querySelectorAll('.mark-button')].map((one) => Number(one.style.gridColumnStart) - 1)",
    );
    expect(columns).toEqual(timeline().items.map(({ scheduledAt }) => new Date(scheduledAt).getUTCHours()));
    const now = await shown.evaluate("Number(document.querySelector('.now-line').style.gridColumnStart) - 1");
    expect(now).toBe(new Date(timeline().now).getUTCHours());
  });

  it('marks what somebody asked for, and counts it as no delay', async () => {
    const shown = await open('timeline');
    const legend = shown.getByRole('list', { name: 'What the marks mean' });
    await expect.poll(() => legend.innerText(), SOON).toMatch(/run by hand[^]*backfilled/);
    const titles = await shown
      .locator('.mark-button')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title')));
    expect(titles.find((title) => title?.includes('backfilled'))).not.toContain('after its due time');
  });

  it('says how many of each outcome a day had, and lists them when it is chosen', async () => {
    const shown = await open('timeline');
    await shown.getByLabel('The last').selectOption('30d');
    // The first day may have one instant alone: that depends on the time of day.
    await shown
      .locator('.calendar.month')
      .getByTitle(/^\d+: /)
      .first()
      .click();
    await expect.poll(() => shown.locator('.several li').count(), SOON).toBeGreaterThan(1);
    await shown.locator('.several button').first().click();
    await expect.poll(() => search(shown), SOON).toContain('at=');
  });
});

describe('the definition', () => {
  const dialog = (shown: Page) => shown.getByRole('dialog');

  it('is edited with what changes and the next ten instants before it is saved', async () => {
    const shown = await open('definition');
    await shown.getByRole('button', { name: 'Edit …' }).click();
    await dialog(shown).getByLabel('Schedule').fill('30 * * * *');
    await dialog(shown).getByLabel('Tags').fill('billing,  eu');
    const preview = dialog(shown).locator('.preview');
    await expect
      .poll(() => preview.innerText(), SOON)
      .toContain('Differs in expression. 7 instants of the next 7 days are new.');
    await expect.poll(() => preview.getByRole('listitem').count(), SOON).toBe(10);
    await dialog(shown).getByLabel('Reason').fill('at half past');
    await dialog(shown).getByRole('button', { name: 'Save' }).click();
    await dialog(shown).waitFor({ state: 'detached' });
    const settings = { expression: '30 * * * *', timeZone: 'Europe/Berlin', overlap: 'skip', tags: ['billing', 'eu'] };
    expect(stage.posted.at(-1)).toMatchObject({
      path: `/api/crons/${CRON}`,
      body: { settings, expected: 2, reason: 'at half past', dryRun: false },
    });
    expect(stage.posted.slice(0, -1).every(({ body }) => (body as { dryRun: boolean }).dryRun)).toBe(true);
  });

  it('that is refused says why, and keeps what was written', async () => {
    const shown = await open('definition');
    await shown.getByRole('button', { name: 'Edit …' }).click();
    stage.refusing = 400;
    await dialog(shown).getByLabel('Schedule').fill('99 * * * *');
    await expect.poll(() => dialog(shown).locator('.preview').innerText(), SOON).toContain('It is meant to fail.');
    await expect.poll(() => dialog(shown).getByLabel('Schedule').inputValue(), SOON).toBe('99 * * * *');
  });

  it('of a new cron is made in the page', async () => {
    const page = await stage.page('/crons/new-cron');
    await dialog(page).getByLabel('Name', { exact: true }).fill('fresh');
    await dialog(page).getByLabel('Schedule').fill('every 30s');
    await dialog(page).getByLabel('Reason').fill('needed');
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    await expect
      .poll(() => stage.posted.at(-1), SOON)
      .toMatchObject({
        path: '/api/crons/fresh',
        body: { settings: { every: '30s' }, expected: null, dryRun: false },
      });
  });

  it('says which revision declares it, what each live pod declares, and when it is removed', async () => {
    const shown = await open('definition');
    const facts = shown.locator('.facts').first();
    await expect.poll(() => facts.innerText(), SOON).toContain('billing, revision 42');
    const live = facts.getByRole('listitem');
    await expect
      .poll(() => live.allInnerTexts(), SOON)
      .toEqual([
        'billing, revision 42 (2 pods): declares it so',
        'billing, revision 41 (1 pod): declares it differently',
      ]);
    expect(await facts.innerText()).not.toContain('Removed at about');

    const revisions = [{ app: 'billing', revision: 43, pods: 1, declares: 'not' as const }];
    const undeclared = { since: '2026-11-20T03:00:00.000Z', removedAt: '2026-11-20T03:05:00.000Z' };
    const json = detail({ declarations: { revisions, undeclared } });
    await shown.route(`**/api/crons/${CRON}`, (route) => route.fulfill({ json }));
    await shown.reload();
    for (const text of ['Not declared since', 'Removed at about', 'does not declare it']) {
      await expect.poll(() => facts.innerText(), SOON).toContain(text);
    }
    await shown.route(`**/api/crons/${CRON}`, (route) => route.fulfill({ json: detail({ declarations: null }) }));
    await shown.reload();
    await expect.poll(() => facts.innerText(), SOON).toContain('unknown');
  });

  it('is edited by an admin alone', async () => {
    stage.fixture = { role: 'operator', crons: 8 };
    const shown = await open('definition');
    await shown.getByRole('table', { name: 'Generations, newest first' }).waitFor();
    expect(await shown.getByRole('button', { name: 'Edit …' }).count()).toBe(0);
  });
});
