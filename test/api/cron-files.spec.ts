import { AUDIT_TRAIL, CronCatalog } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

let running: RunningApp;
const LINES = { 'content-type': 'application/x-ndjson' };

beforeAll(async () => {
  running = await startSchedulerApp();
});
afterAll(() => running.close());

const cron = (n: number, over: object = {}) => ({
  ...{ name: `tenant-a.${n}`, expression: '0 3 * * *', tags: ['tenant-a'], ...over },
});
const text = (crons: readonly object[]) => crons.map((one) => `${JSON.stringify(one)}\n`).join('');
const json = async (response: Promise<Response>) => (await (await response).json()) as Record<string, unknown>;

interface Sent {
  readonly as?: 'viewer' | 'operator' | 'admin';
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

function send(
  body: string | ReadableStream<Uint8Array>,
  { as = 'admin', query = 'reason=a%20tenant', headers = LINES }: Sent = {},
) {
  const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
  return running.ask(`/api/crons/import?${query}`, { as, ...init });
}

const exported = async (query = '') => (await running.ask(`/api/crons/export${query}`)).text();

/** In pieces, as a file is read. */
function pieces(whole: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(whole);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.subarray(at, (at += 1_000)));
      if (at >= bytes.length) controller.close();
    },
  });
}

describe('an import', () => {
  it('creates a cron for each line of a stream, is recorded once, and changes nothing the second time', async () => {
    const crons = Array.from({ length: 300 }, (_, n) => cron(n));
    const first = await json(send(pieces(text(crons))));
    expect(first).toEqual({
      ...{ dryRun: false, total: 300, asked: 300, created: 300, changed: 0, unchanged: 0, failed: 0 },
      ...{ problems: [], stopped: null },
    });
    expect(await json(send(text(crons)))).toMatchObject({ created: 0, unchanged: 300 });
    const [record] = await running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false }).list({ limit: 1 });
    expect(record).toMatchObject({ action: 'set', by: 'anna', role: 'admin', reason: 'a tenant' });
    expect(record?.crons).toHaveLength(300);
    expect(await json(running.ask('/api/crons?tag=tenant-a&limit=1'))).toMatchObject({ total: 300 });
  });

  it('of a dry run says what would change', async () => {
    const body = text([cron(0), cron(1, { disabled: true }), cron(999)]);
    expect(await json(send(body, { query: 'reason=x&dryRun=true' }))).toMatchObject({
      ...{ dryRun: true, created: 1, changed: 1, unchanged: 1 },
    });
    expect((await running.ask('/api/crons/tenant-a.999')).status).toBe(404);
  });

  it('with an invalid line is refused as a whole, with a problem that names every such line', async () => {
    const response = await send(
      `${text([cron(1_000)])}not json\n\n${text([cron(1_001, { expression: '61 * * * *' })])}`,
    );
    expect([response.status, response.headers.get('content-type')]).toEqual([
      400,
      'application/problem+json; charset=utf-8',
    ]);
    expect(await response.json()).toMatchObject({
      code: 'INVALID_CRONS',
      count: 2,
      problems: [
        { line: 2, cron: null, code: 'NOT_JSON' },
        { line: 4, cron: 'tenant-a.1001', code: 'CRON_DECLARATION' },
      ],
    });
    expect((await running.ask('/api/crons/tenant-a.1000')).status).toBe(404);
  });

  it.each<[string, number, Sent]>([
    ['an operator', 403, { as: 'operator' }],
    ['nobody with a reason', 400, { query: '' }],
    ['a body of JSON', 415, { headers: { 'content-type': 'application/json' } }],
    ['a form, which any page can send', 415, { headers: { 'content-type': 'text/plain' } }],
  ])('is refused to %s', async (_, status, sent) => {
    expect((await send(text([cron(2_000)]), sent)).status).toBe(status);
    expect((await running.ask('/api/crons/tenant-a.2000')).status).toBe(404);
  });

  it('with a line beyond 128 KiB is refused before its end has come', async () => {
    const response = await send(`{"name":"a","payload":"${'x'.repeat(200_000)}"}\n`);
    expect([response.status, await response.json()]).toMatchObject([413, { code: 'TOO_LARGE' }]);
  });

  it('makes another wait its turn', async () => {
    let end = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text([cron(3_000)])));
        end = () => controller.close();
      },
    });
    const first = send(body);
    let busy: Response;
    do busy = await send(text([cron(3_001)]), { query: 'reason=x&dryRun=true' });
    while (busy.status === 200);
    expect([busy.status, await busy.json()]).toMatchObject([503, { code: 'BUSY' }]);
    end();
    expect(await json(first)).toMatchObject({ created: 1 });
  });
});

describe('an export', () => {
  it('has each cron in a line, by tag or all, and is what an import takes', async () => {
    const crons = running.app.get(CronCatalog, { strict: false });
    await crons.set('other', { every: '30s', payload: { n: 1 } }, { by: 'test' });
    const all = (await exported()).trimEnd().split('\n');
    const tagged = (await exported('?tag=tenant-a')).trimEnd().split('\n');
    expect(all.length).toBe(tagged.length + 1);
    expect(JSON.parse(all.find((line) => line.includes('"other"')) ?? '{}')).toMatchObject({
      every: '30s',
      payload: { n: 1 },
    });
    expect(await json(send(`${all.join('\n')}\n`))).toMatchObject({ created: 0, changed: 0, unchanged: all.length });
  });
});
