import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { cronPath, runPath, shows, SOON, TOKENS, useStage } from './stage.js';

const stage = useStage();
let [asked, failed] = ['', ''];
beforeAll(async () => {
  await stage.deployment.pods.worker('worker', { env: { CRONS: 'shown' } });
  await stage.cron('kept', { handler: 'asking', expression: '0 0 1 1 *' });
  await stage.cron('broken', { handler: 'failing' });
  [asked, failed] = [await stage.trigger('kept'), await stage.trigger('broken')];
  await Promise.all([stage.comesTo(asked, 'uncertain'), stage.comesTo(failed, 'failed')]);
});

const PAGES: readonly (readonly [name: string, path: () => string, words: string])[] = [
  ['a cron', () => cronPath('kept'), 'Timeline'],
  ['an uncertain run', () => runPath(asked), 'send-mail'],
  ['a failed run', () => runPath(failed), 'The printer is on fire.'],
  ['what needs a person', () => '/crons/attention', 'The printer is on fire.'],
  ['who holds what', () => '/crons/leases', 'kept'],
];

const ORDERS: readonly (readonly [path: () => string, body: object | 'DELETE'])[] = [
  [() => 'crons/kept/pause', {}],
  [() => 'crons/kept/resume', {}],
  [() => 'crons/kept/trigger', {}],
  [() => 'crons/kept/backfill', { from: '2026-01-05T00:00:00Z', to: '2026-01-06T00:00:00Z' }],
  [() => 'crons/kept?reason=by+hand', 'DELETE'],
  [() => `runs/${encodeURIComponent(asked)}/cancel`, {}],
  [() => `runs/${encodeURIComponent(asked)}/resolve`, { answer: 'give-up' }],
  [() => `runs/${encodeURIComponent(failed)}/retry`, {}],
  [() => 'leases/kept/clear', { fence: '1' }],
];

const buttons = async (page: Page) => {
  const texts = await page.locator('main button').allInnerTexts();
  return texts.filter((text) => text.includes('…'));
};

/** As a program of the page itself would send it. @returns the status of the answer */
function post(page: Page, path: string, body: object | 'DELETE'): Promise<number> {
  const text = JSON.stringify({ reason: 'by hand', ...Object(body) });
  const headers = "{ 'content-type': 'application/json' }";
  const words =
    body === 'DELETE'
      ? "{ method: 'DELETE' }"
      : `{ method: 'POST', headers: ${headers}, body: ${JSON.stringify(text)} }`;
  return page.evaluate(`fetch(${JSON.stringify(`/crons/api/${path}`)}, ${words}).then(({ status }) => status)`);
}

describe('whoever has the token of a viewer', () => {
  it.each(PAGES)('sees %s, and no button that changes anything', async (_, path, words) => {
    const page = await stage.visit(path(), { as: 'viewer' });
    await shows(page, words);
    expect(await buttons(page)).toEqual([]);
    expect(stage.complaints()).toEqual([]);
  });

  it('is refused each order that is sent by hand, with the cookie of the page', async () => {
    const page = await stage.visit('/crons/', { as: 'viewer' });
    await shows(page, 'kept');
    const { stores } = stage.deployment;
    const before = await Promise.all([
      stores.ledger.readRun(asked),
      stores.ledger.readRun(failed),
      stage.deployment.entryOf('kept'),
    ]);
    const statuses = await Promise.all(ORDERS.map(async ([path, body]) => [path(), await post(page, path(), body)]));
    expect(statuses).toEqual(ORDERS.map(([path]) => [path(), 403]));
    const after = await Promise.all([
      stores.ledger.readRun(asked),
      stores.ledger.readRun(failed),
      stage.deployment.entryOf('kept'),
    ]);
    expect(after).toEqual(before);
    expect(await stage.ask('audit')).toEqual({ items: [], next: null });
  });
});

describe('whoever has no token', () => {
  it('is asked for one, and shown nothing else', async () => {
    const page = await stage.visit(cronPath('kept'), { as: null });
    await page.getByLabel('Token').waitFor();
    expect(await page.locator('body').innerText()).not.toContain('kept');
    for (const path of [
      'me',
      'overview',
      'crons',
      'crons/kept',
      'runs?state=failed',
      'leases',
      'events',
      'journal',
      'audit',
    ]) {
      expect([path, (await page.request.get(`${stage.pod.url}/crons/api/${path}`)).status()]).toEqual([path, 401]);
    }
    for (const path of ['/crons/queues/api/queues', '/crons/docs', '/crons/openapi.json', '/metrics']) {
      const answer = await page.request.get(stage.pod.url + path, { headers: { accept: 'application/json' } });
      expect([path, answer.status()]).toEqual([path, 401]);
    }
  });

  it('signs in where they are, goes on there, and is nobody again after signing out', async () => {
    const page = await stage.visit(cronPath('kept'), { as: null });
    await page.getByLabel('Token').fill('no-such-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await shows(page, 'Unknown token.');
    await page.getByLabel('Token').fill(TOKENS.operator.secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await shows(page, 'Timeline');
    await expect.poll(() => page.locator('.who').innerText(), SOON).toContain('otto');
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await expect.poll(async () => (await page.request.get(`${stage.pod.url}/crons/api/me`)).status(), SOON).toBe(401);
  });
});

describe('a page of another origin', () => {
  it('gives no order with the cookie of whoever is signed in, and shows nothing in a frame', async () => {
    const page = await stage.visit('/crons/');
    await shows(page, 'kept');
    const [cookie] = await page.context().cookies();
    for (const [site, type, status] of [
      ['cross-site', 'application/json', 403],
      ['same-site', 'application/json', 403],
      ['same-origin', 'text/plain', 415],
    ] as const) {
      const headers = { cookie: `${cookie?.name}=${cookie?.value}`, 'sec-fetch-site': site, 'content-type': type };
      const order = { method: 'POST', headers, body: '{"reason":"forged"}' };
      const { status: answered } = await fetch(`${stage.pod.url}/crons/api/crons/kept/pause`, order);
      expect([site, type, answered]).toEqual([site, type, status]);
    }
    expect(cookie).toMatchObject({ sameSite: expect.stringMatching(/Lax|Strict/) as string });
    const { headers } = await fetch(`${stage.pod.url}/crons/assets/none.js`);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect((await stage.deployment.stores.ledger.readCron('kept')).paused).toBeNull();
  });
});
