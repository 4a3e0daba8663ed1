import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { violations } from './accessible.js';
import { CRON, LOST_RUN } from './fixture-runs.js';
import { SOON, useWebStage } from './web-stage.js';

const stage = useWebStage();

const open = (path: string, options: BrowserContextOptions = {}): Promise<Page> => stage.page(path, options);

/* Each page as such is looked at on real pods, by test/browser/look.spec.ts. */
describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  it('a lost run, a dialog and the sign-in form have nothing that axe takes for serious', async () => {
    const shown = await open(`/crons/run/${encodeURIComponent(LOST_RUN)}`, { colorScheme });
    await shown.locator('pre.logs').first().waitFor();
    expect(await violations(shown)).toEqual([]);
    await shown.goto(stage.url(`/crons/cron/${CRON}`));
    await shown.getByRole('button', { name: 'Backfill …' }).click();
    expect(await violations(shown)).toEqual([]);
    stage.failing = 401;
    await shown.reload();
    await shown.getByLabel('Token').waitFor();
    expect(await violations(shown)).toEqual([]);
  });
});

describe('on a phone', () => {
  it('a row is a card that is still a row to a screen reader', async () => {
    const shown = await open('/crons/', { viewport: { width: 360, height: 740 } });
    await expect
      .poll(
        () =>
          shown
            .getByRole('row', { name: /invoice-collect/ })
            .getByRole('cell')
            .count(),
        SOON,
      )
      .toBe(5);
  });
});

describe('light and dark', () => {
  const ground = (shown: Page) => shown.evaluate('getComputedStyle(document.body).backgroundColor');

  it('go by the machine, and by the switch, which is remembered', async () => {
    const shown = await open('/crons/', { colorScheme: 'dark' });
    const dark = await ground(shown);
    await shown.getByLabel('Look').selectOption('light');
    const light = await ground(shown);
    expect(light).not.toBe(dark);
    await shown.reload();
    await shown.locator('table').waitFor();
    expect(await ground(shown)).toBe(light);
    await shown.getByLabel('Look').selectOption('system');
    expect(await ground(shown)).toBe(dark);
  });
});

describe('the times', () => {
  it('are those of the cron, with those of everybody in the title, or UTC', async () => {
    const shown = await open(`/crons/cron/${CRON}`);
    const next = shown.locator('.facts time').first();
    const iso = (await next.getAttribute('datetime')) ?? '';
    const utc = iso.slice(11, 19);
    expect(await next.innerText()).not.toContain(utc);
    await expect.poll(() => next.getAttribute('title'), SOON).toContain(`${utc} UTC`);
    await shown.getByLabel('Times').selectOption('utc');
    await expect.poll(() => next.innerText(), SOON).toContain(utc);
  });
});

describe('by keys alone', () => {
  const focused = (shown: Page) => shown.evaluate('document.activeElement.innerText');

  it('the first stop leads past the navigation', async () => {
    const shown = await open('/crons/');
    await shown.locator('table').waitFor();
    await shown.keyboard.press('Tab');
    expect(await focused(shown)).toBe('Skip to the content');
    await shown.keyboard.press('Enter');
    await expect.poll(() => shown.evaluate('document.activeElement.id'), SOON).toBe('main');
  });

  it('another page has the focus on its heading', async () => {
    const shown = await open('/crons/');
    await shown.getByRole('link', { name: 'Doctor' }).focus();
    await shown.keyboard.press('Enter');
    await expect.poll(() => focused(shown), SOON).toBe('Doctor');
  });

  it('all marks of a timeline are one stop, and arrows go through them', async () => {
    const shown = await open(`/crons/cron/${CRON}?tab=timeline`);
    await shown.locator('.mark-button').first().waitFor();
    await expect.poll(() => shown.locator('.mark-button[tabindex="0"]').count(), SOON).toBe(1);
    await shown.locator('.mark-button').nth(3).focus();
    await shown.keyboard.press('ArrowRight');
    await shown.keyboard.press('Enter');
    await expect.poll(() => shown.locator('.answer').innerText(), SOON).toContain('uncertain');
    await shown.keyboard.press('End');
    const last = await shown.evaluate("document.activeElement.getAttribute('title')");
    expect(last).toContain('ahead');
  });

  it('every stop shows where it is', async () => {
    const shown = await open(`/crons/cron/${CRON}?tab=timeline`);
    await shown.locator('.mark-button').first().waitFor();
    const unseen: unknown[] = [];
    for (let stop = 0; stop < 30; stop += 1) {
      await shown.keyboard.press('Tab');
      // Past the last stop the browser's own controls are next.
      if (await shown.evaluate('document.activeElement === document.body')) break;
      const style = await shown.evaluate('getComputedStyle(document.activeElement).outlineStyle');
      if (style === 'none') unseen.push(await shown.evaluate('document.activeElement.outerHTML.slice(0, 80)'));
    }
    expect(unseen).toEqual([]);
  });
});

const podRow = (shown: Page, pod: RegExp) => shown.getByRole('table', { name: 'Pods' }).getByRole('row', { name: pod });

describe('the page of leases', () => {
  const openLeases = (options: BrowserContextOptions = {}) => open('/crons/leases', options);
  const summary = (shown: Page) => shown.getByRole('region', { name: 'Summary' });

  it('begins with the members, how even they hold, and the farthest clock', async () => {
    const shown = await openLeases();
    await expect.poll(() => summary(shown).innerText(), SOON).toContain('2 schedulers, 1 worker');
    const text = await summary(shown).innerText();
    expect(text).toMatch(/Clock offset\s+-1.4 s/);
    expect(text).toMatch(/Without a holder\s+none/);
    await expect.poll(() => summary(shown).innerText(), SOON).toMatch(/Takeovers in the last hour\s+(at least )?\d/);
  });

  it('counts the crons without a holder, and leads to them', async () => {
    stage.fixture = { role: 'viewer', crons: 100, unheld: 60 };
    const shown = await openLeases();
    await summary(shown).getByRole('link', { name: '60 crons' }).click();
    await expect.poll(() => shown.getByLabel('State').inputValue(), SOON).toBe('unheld');
  });

  it('finds a pod by its name or host', async () => {
    const shown = await openLeases();
    await podRow(shown, /^scheduler-1/).waitFor();
    await shown.getByPlaceholder('Pod or host').fill('node-b');
    await expect.poll(() => podRow(shown, /^scheduler/).count(), SOON).toBe(1);
    await expect.poll(() => podRow(shown, /^scheduler-2/).count(), SOON).toBe(1);
  });

  it('has the leases of the crons with a tag', async () => {
    const shown = await openLeases();
    const rows = () => shown.getByRole('table', { name: 'Leases of crons' }).getByRole('row').count();
    await expect.poll(rows, SOON).toBeGreaterThan(2);
    await shown.getByRole('searchbox', { name: 'Tag' }).fill('billing');
    await expect.poll(rows, SOON).toBe(2);
    await shown.getByRole('searchbox', { name: 'Tag' }).fill('nothing');
    await expect.poll(() => shown.getByText('No leases match').count(), SOON).toBe(1);
  });

  it('draws of 5,000 leases one page', async () => {
    stage.fixture = { role: 'viewer', crons: 5_000, held: 5_000 };
    const shown = await openLeases();
    await podRow(shown, /^scheduler-1/).waitFor();
    await expect
      .poll(() => shown.getByRole('table', { name: 'Leases of crons' }).getByRole('row').count(), SOON)
      .toBe(51);
    expect(await shown.evaluate("document.querySelectorAll('*').length")).toBeLessThan(2_000);
  });

  it('fits on a phone, where each pod is a card', async () => {
    stage.fixture = { role: 'viewer', crons: 200, held: 200, unheld: 60 };
    const shown = await openLeases({ viewport: { width: 360, height: 740 } });
    await podRow(shown, /^scheduler-1/).waitFor();
    await expect.poll(() => shown.evaluate('document.documentElement.scrollWidth'), SOON).toBe(360);
  });
});
