import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRETS, startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

let running: RunningApp;
let cookie: string;
const JSON_TYPE = { 'content-type': 'application/json' };

beforeAll(async () => {
  running = await startSchedulerApp();
  const response = await running.order('/session', { token: SECRETS.operator }, null);
  cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
});
afterAll(() => running.close());

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** As a browser would: `fetch` sets some of these headers itself. */
function send(path: string, { method = 'POST', headers = {}, body = '' }: Sent, port = running.port) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end(body);
  });
}

const order = (headers: Record<string, string>, body = '{"reason":"r"}') =>
  send('/crons/api/crons/none/trigger', { headers: { ...JSON_TYPE, ...headers }, body });

describe('a session', () => {
  it('is a cookie that no program of a page can read, and that no other site sends', async () => {
    const response = await running.order('/session', { token: SECRETS.viewer }, null);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ name: 'vera', role: 'viewer', signedIn: true });
    expect(response.headers.get('set-cookie')).toMatch(/^fencepost_session=\S+; HttpOnly; SameSite=Strict$/);
  });

  it('opens what a token opens, the board too, and ends', async () => {
    const [me, board] = [
      await send('/crons/api/me', { method: 'GET', headers: { cookie } }),
      await send('/crons/queues/', { method: 'GET', headers: { cookie } }),
    ];
    expect([me.status, board.status]).toEqual([200, 200]);
    const out = await running.ask('/session', { as: null, method: 'DELETE' });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringMatching(/^fencepost_session=; .*1970/),
    ]);
  });

  it('is not begun with a wrong token', async () => {
    expect((await running.order('/session', { token: 'wrong' }, null)).status).toBe(401);
  });
});

describe('an order by a session', () => {
  it('is accepted from our own page, and from a program that is no browser', async () => {
    const own = { cookie, origin: running.url, 'sec-fetch-site': 'same-origin' };
    // Nothing is called so: whoever comes so far was let in.
    expect((await order(own)).status).toBe(404);
    expect((await order({ cookie })).status).toBe(404);
    expect((await order({ cookie, origin: running.url })).status).toBe(404);
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'http://127.0.0.1:1' }],
  ])('is refused from the page of another origin: %o', async (headers) => {
    const { status, text } = await order({ cookie, ...headers });
    expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([403, 'CROSS_ORIGIN']);
  });

  it('can not be smuggled in as a form or a plain text', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      expect((await order({ cookie, 'content-type': type })).status).toBe(415);
    }
  });

  it('on the board is refused from another origin as well', async () => {
    const headers = { cookie, 'sec-fetch-site': 'cross-site' };
    expect((await send('/crons/queues/api/queues/runs/pause', { method: 'PUT', headers })).status).toBe(403);
  });
});

describe('every answer', () => {
  it('may not be framed, sniffed or read by another origin', async () => {
    for (const path of ['/crons/api/crons', '/crons/', '/crons/queues/', '/crons/docs', '/crons/nothing']) {
      const { headers } = await running.ask(path, { headers: { origin: 'https://evil.example' } });
      expect(headers.get('access-control-allow-origin'), path).toBeNull();
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('x-powered-by'), path).toBeNull();
      expect(headers.get('content-security-policy'), path).toContain("frame-ancestors 'none'");
      expect(headers.get('content-security-policy')?.match(/script-src [^;]*/)?.[0] ?? '', path).not.toContain(
        'unsafe',
      );
    }
  });

  it('of the API is kept by nobody', async () => {
    expect((await running.ask('/api/crons')).headers.get('cache-control')).toBe('no-store');
  });

  it('to a browser without a session says where to sign in', async () => {
    const response = await running.ask('/queues/', { as: null, headers: { accept: 'text/html' } });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      401,
      expect.stringContaining('text/html'),
    ]);
    expect(await response.text()).toContain('"../');
  });
});

describe('a pod without tokens', () => {
  it('knows everybody on this machine as its admin, and answers to no other name than its own', async () => {
    const local = await startSchedulerApp({ access: { auth: 'none' } });
    try {
      expect(await (await local.ask('/api/me', { as: null })).json()).toEqual({
        name: 'local',
        role: 'admin',
        signedIn: false,
      });
      const rebound = await send(
        '/crons/api/me',
        { method: 'GET', headers: { host: `evil.example:${local.port}` } },
        local.port,
      );
      expect([rebound.status, rebound.text]).toEqual([403, expect.stringContaining('FOREIGN_HOST')]);
      const named = await send(
        '/crons/api/me',
        { method: 'GET', headers: { host: `localhost:${local.port}` } },
        local.port,
      );
      expect(named.status).toBe(200);
      const headers = { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' };
      const crossed = await send('/crons/api/crons/none/trigger', { headers, body: '{"reason":"r"}' }, local.port);
      expect([crossed.status, crossed.text]).toEqual([403, expect.stringContaining('CROSS_ORIGIN')]);
    } finally {
      await local.close();
    }
  });
});
