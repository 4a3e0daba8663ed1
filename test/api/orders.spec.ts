import { readFileSync } from 'node:fs';
import { AUDIT_TRAIL, CronCatalog } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { formatFence, Leases } from '@fencepost/lease';
import { createClient } from '@fencepost/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { privateRedis } from '../support/redis.js';
import { SECRETS, startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

let running: RunningApp;
const BY = { by: 'test' };

beforeAll(async () => {
  running = await startSchedulerApp();
  const crons = running.app.get(CronCatalog, { strict: false });
  await crons.set('nightly-report', { expression: '0 3 1 1 *', timeZone: 'Europe/Berlin' }, BY);
  await crons.set('on-demand', { expression: '@manual', payload: { of: 'test' } }, BY);
  await crons.set('short-lived', { expression: '@manual' }, BY);
});
afterAll(() => running.close());

const json = async (response: Response | Promise<Response>) =>
  (await (await response).json()) as Record<string, unknown>;
const trail = () => running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false }).list({ limit: 1 });

async function triggered(): Promise<string> {
  const { runId } = await json(running.order('/api/crons/on-demand/trigger', { reason: 'a try', force: true }));
  return String(runId);
}

describe('the API', () => {
  it('lists crons, and shows one with its schedule', async () => {
    const { total, items } = await json(running.ask('/api/crons?search=REPORT'));
    expect([total, items]).toEqual([
      1,
      [expect.objectContaining({ name: 'nightly-report', timeZone: 'Europe/Berlin' })],
    ]);
    const detail = await json(running.ask('/api/crons/nightly-report'));
    expect(detail).toMatchObject({
      name: 'nightly-report',
      state: 'active',
      generations: [{ generation: 1, by: 'test' }],
    });
  });

  it.each(['timeline', 'runs', 'journal', 'why'])('says what is known of a cron: %s', async (what) => {
    expect((await running.ask(`/api/crons/nightly-report/${what}`)).status).toBe(200);
  });

  it.each([
    'overview',
    'pods',
    'upcoming?hours=48',
    'doctor',
    'journal',
    'audit',
    'leases',
    'runs?state=failed',
    'runs?state=uncertain',
  ])('says what is known of the deployment: %s', async (what) =>
    expect((await running.ask(`/api/${what}`)).status).toBe(200),
  );

  it('tells names that are like one that is not there', async () => {
    const response = await running.ask('/api/crons/nightly-reprot/runs');
    expect([response.status, await response.json()]).toEqual([
      404,
      {
        type: 'https://fencepost.dev/problems/cron-unknown',
        title: 'Unknown cron',
        status: 404,
        detail: expect.stringContaining('Did you mean "nightly-report"?'),
        code: 'CRON_UNKNOWN',
      },
    ]);
  });

  it.each([
    ['/api/crons?limit=0', 'limit: Expected a whole number from 1 to 500.'],
    ['/api/crons?limit=1e9', 'limit: Expected a whole number'],
    ['/api/crons?state=asleep', 'state: Expected one of uncertain, standstill, failing'],
    ['/api/crons?nothing=1', 'nothing'],
    ['/api/crons/..%2f..%2fetc', 'cron: Expected the name of a cron.'],
    ['/api/crons/a%0d%0aSet-Cookie:%20x', 'cron: Expected the name of a cron.'],
    ['/api/runs/none', 'id: Expected the id of a run'],
    ['/api/journal?cursor=%0a', 'cursor: Expected "next" of the page before'],
    ['/api/leases?cursor=!', 'cursor: Expected'],
    ['/api/crons/on-demand/runs?cursor=b24tZGVtYW5kQDE', 'cursor: This page has expired'],
    ['/api/crons/on-demand/why?at=tomorrowish', 'Expected'],
  ])('refuses %s in one sentence', async (path, sentence) => {
    const response = await running.ask(path);
    const body = (await response.json()) as { detail: string };
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect([response.status, body.detail]).toEqual([400, expect.stringContaining(sentence)]);
  });

  it("says that it is somebody else's turn when nobody is there to be asked", async () => {
    const redis = await privateRedis();
    const lonely = await startSchedulerApp({ redis: redis.url });
    redis.freeze();
    try {
      const response = await lonely.ask('/api/crons');
      expect([response.status, await response.json()]).toEqual([503, expect.objectContaining({ status: 503 })]);
    } finally {
      redis.thaw();
      await lonely.close();
      await redis.stop();
    }
  });
});

describe('an order', () => {
  it('to pause and to resume is carried out, and leaves who, why, before and after', async () => {
    const pause = await json(running.order('/api/crons/nightly-report/pause', { reason: 'the database moves' }));
    expect(pause).toMatchObject({ by: 'otto', reason: 'the database moves', until: null });
    expect(await trail()).toEqual([
      expect.objectContaining({
        ...{ by: 'otto', role: 'operator', action: 'pause', cron: 'nightly-report', reason: 'the database moves' },
        ...{ before: null, after: expect.objectContaining({ by: 'otto' }), from: 'api 127.0.0.1' },
      }),
    ]);
    expect(await json(running.ask('/api/crons?state=paused'))).toMatchObject({ total: 1 });
    const resumed = await json(running.order('/api/crons/nightly-report/resume', { reason: 'it has moved' }));
    expect(resumed).toMatchObject({ ended: { by: 'otto' }, runId: null });
    expect(await trail()).toEqual([
      expect.objectContaining({ action: 'resume', before: expect.objectContaining({ by: 'otto' }) }),
    ]);
    await running.order('/api/crons/nightly-report/resume', { reason: 'once more' });
    const { items } = await json(running.ask('/api/audit?cron=nightly-report'));
    expect(items).toMatchObject([{ action: 'resume', reason: 'it has moved' }, { action: 'pause' }, { action: 'set' }]);
  });

  it('to run, and to cancel what has not begun, ends in a record of the run', async () => {
    const runId = await triggered();
    expect(await trail()).toEqual([expect.objectContaining({ action: 'trigger', cron: 'on-demand', runId })]);
    const path = `/api/runs/${encodeURIComponent(runId)}`;
    expect(await json(running.ask(path))).toMatchObject({ run: { id: runId, by: 'otto' }, effects: [], logs: [] });
    expect(await json(running.order(`${path}/cancel`, { reason: 'not now' }))).toMatchObject({
      runId,
      state: 'cancelled',
    });
    const again = await running.order(`${path}/cancel`, { reason: 'not now' });
    expect([again.status, (await json(again))['state']]).toEqual([200, 'cancelled']);
    const retried = await json(running.order(`${path}/retry`, { reason: 'now it is' }));
    expect(retried).toEqual({ runId: `${runId}-r1` });
    const about = { attempt: 1, effect: 'mail', since: '2026-01-01T00:00:00.000Z' };
    const resolved = await running.order(`${path}/resolve`, { reason: 'r', answer: 'done', ...about });
    expect([resolved.status, (await json(resolved))['code']]).toEqual([409, 'RUN_STATE']);
  });

  it('that was refused leaves no record', async () => {
    const before = await trail();
    expect((await running.order('/api/crons/none/trigger', { reason: 'r' })).status).toBe(404);
    expect((await running.order('/api/crons/on-demand/trigger', {})).status).toBe(400);
    expect(await trail()).toEqual(before);
  });

  it('to backfill says first what it would do', async () => {
    const span = { from: '2025-12-01T00:00:00Z', to: '2026-02-01T00:00:00Z' };
    const order = { reason: 'a look', ...span, dryRun: true };
    expect(await json(running.order('/api/crons/nightly-report/backfill', order))).toMatchObject({
      dryRun: true,
      instants: 1,
    });
  });

  it('to remove is for an admin', async () => {
    const removed = await json(running.ask('/api/crons/short-lived?reason=gone', { as: 'admin', method: 'DELETE' }));
    expect(removed).toEqual({ cron: 'short-lived', done: true, declaredBy: null });
    expect(await trail()).toEqual([
      expect.objectContaining({ by: 'anna', action: 'remove', before: { state: 'active', generation: 1 } }),
    ]);
  });

  it('to clear a lease that is another one by now changes nothing', async () => {
    const response = await running.order('/api/leases/on-demand/clear', { reason: 'r', fence: '1' }, 'admin');
    expect([response.status, (await json(response))['code']]).toEqual([409, 'LEASE_MOVED']);
  });
});

describe('leases of the application', () => {
  const held = (resource: string) => running.app.get(Leases, { strict: false }).acquire(resource);

  it('are listed with what they are and since when, and shown by name', async () => {
    const lease = await held('invoice:7');
    const { items, next } = await json(running.ask('/api/own-leases?kind=lease&search=voice'));
    expect(next).toBeNull();
    expect(items).toEqual([
      {
        ...{ kind: 'lease', resource: 'invoice:7', fence: formatFence(lease.fence), holderIsPod: expect.any(Boolean) },
        holder: expect.stringMatching(/^scheduler-1\/[0-9a-f]{8}$/),
        ...{ remainingMs: expect.any(Number), heldSince: expect.stringMatching(/Z$/) },
      },
    ]);
    const named = await json(running.ask('/api/own-leases?resource=invoice:7'));
    expect(named).toMatchObject({ items: [{ resource: 'invoice:7', fence: formatFence(lease.fence) }], next: null });
    expect(await json(running.ask('/api/own-leases?resource=invoice'))).toEqual({ items: [], next: null });
    expect((await running.ask('/api/own-leases?cursor=nonsense')).status).toBe(400);
    await lease.release();
  });

  it('are cleared only with the confirmation, of the fence that was seen, by an admin', async () => {
    const lease = await held('invoice:8');
    const order = { reason: 'r', kind: 'lease', resource: 'invoice:8', fence: formatFence(lease.fence) };
    const clear = (over: object, as: 'admin' | 'operator' = 'admin') =>
      running.order('/api/own-leases/clear', { ...order, ...over }, as);
    expect((await clear({})).status).toBe(400);
    expect((await clear({ downstreamSafe: false })).status).toBe(400);
    expect((await clear({ downstreamSafe: true }, 'operator')).status).toBe(403);
    expect((await clear({ downstreamSafe: true, fence: '1' })).status).toBe(409);
    expect(await json(clear({ downstreamSafe: true }))).toMatchObject({
      cleared: { resource: 'invoice:8' },
      next: null,
    });
    const watched = `kind=lease&resource=invoice:8&fence=${order.fence}&holder=scheduler-1`;
    expect(await json(running.ask(`/api/own-leases/watch?${watched}`))).toEqual({
      ...{ verdict: 'free', observations: [], holder: null, fence: null },
    });
  });

  it('of a cron are watched from the marker of the answer on', async () => {
    const at = encodeURIComponent(new Date().toISOString());
    const watch = `/api/leases/nightly-report/watch?at=${at}&refusals=0&ledgerAt=${at}`;
    expect(await json(running.ask(watch))).toMatchObject({ observations: [], verdict: expect.any(String) });
  });
});

describe('a list', () => {
  interface Page {
    readonly items: readonly { readonly id: string }[];
    readonly next: string | null;
  }

  it.each(['crons/on-demand/runs', 'crons/on-demand/journal', 'journal', 'audit'])(
    'comes page after page, by the cursor of each, and in one piece: %s',
    async (list) => {
      for (const n of [1, 2]) await running.order('/api/crons/on-demand/trigger', { reason: `${n}`, force: true });
      const pageOf = async (words: string) => (await json(running.ask(`/api/${list}?${words}`))) as unknown as Page;
      const ids: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: Page = await pageOf(`limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
        expect(page.items.length).toBe(1);
        ids.push(...page.items.map(({ id }) => id));
        cursor = page.next;
      }
      expect(ids.length).toBeGreaterThan(0);
      const whole = await pageOf('limit=500');
      expect(whole.next).toBeNull();
      // What has happened since comes first.
      expect(whole.items.map(({ id }) => id).slice(-ids.length)).toEqual(ids);
    },
  );
});

describe('the typed client', () => {
  it('asks with a token, and has data or an error', async () => {
    const client = createClient({ baseUrl: `${running.url}/crons`, token: SECRETS.viewer });
    const { data } = await client.GET('/api/crons/{cron}', { params: { path: { cron: 'on-demand' } } });
    expect(data?.payload).toEqual({ of: 'test' });
    const { error } = await client.GET('/api/crons/{cron}', { params: { path: { cron: 'none' } } });
    expect(error).toMatchObject({ code: 'CRON_UNKNOWN', status: 404 });
  });

  it('does what its README shows: an order, and a list to its end', async () => {
    const client = createClient({ baseUrl: `${running.url}/crons`, token: SECRETS.operator });
    const params = { path: { cron: 'nightly-report' } };
    const { data: pause } = await client.POST('/api/crons/{cron}/pause', { params, body: { reason: 'full' } });
    expect(pause?.reason).toBe('full');
    const actions: string[] = [];
    for (let cursor: string | undefined; ;) {
      const { data } = await client.GET('/api/audit', { params: { query: { limit: 1, ...(cursor && { cursor }) } } });
      actions.push(...(data?.items ?? []).map(({ action }) => action));
      if (!data?.next) break;
      cursor = data.next;
    }
    expect(actions[0]).toBe('pause');
    expect(actions.length).toBeGreaterThan(1);
    await client.POST('/api/crons/{cron}/resume', { params, body: { reason: 'free' } });
  });

  it('is made from the document that is served', async () => {
    const served = await json(running.ask('/openapi.json'));
    const kept: unknown = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
    expect(served).toEqual(kept);
  });
});
