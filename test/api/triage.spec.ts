import { randomUUID } from 'node:crypto';
import type { Answers } from '@fencepost/client';
import { LEDGER } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { AUDIT_TRAIL, CronCatalog, CronOperator } from '@fencepost/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';
import { until } from '../support/until.js';

const BY = { by: 'test', reason: 'a test' };

let running: RunningApp;
beforeAll(async () => {
  running = await startSchedulerApp();
  const crons = running.app.get(CronCatalog, { strict: false });
  const make = (name: string, tags: string[]) => crons.set(name, { expression: '0 3 1 1 *', tags }, BY);
  await make('a-healthy', ['billing']);
  await make('b-failing', ['billing', 'eu']);
  await make('c-uncertain', ['eu']);
  await make('d-paused', ['billing']);
  for (const how of ['succeeded', 'succeeded'] as const) await ended('a-healthy', how);
  for (const how of ['succeeded', 'failed', 'failed'] as const) await ended('b-failing', how);
  await ended('c-uncertain', 'uncertain');
  await running.app.get(CronOperator, { strict: false }).pause('d-paused', BY);
});
afterAll(() => running.close());

/** A run that was asked for, begun, and ended like this. */
async function ended(cron: string, how: 'succeeded' | 'failed' | 'uncertain'): Promise<void> {
  const ledger = running.app.get<Ledger>(LEDGER, { strict: false });
  const reply = await running.app.get(CronOperator, { strict: false }).trigger(cron, { ...BY, force: true });
  if (reply.verdict !== 'claimed') throw new Error(`Expected ${cron} to run, got ${reply.verdict}.`);
  const { runId } = reply;
  const nonce = randomUUID();
  const begun = await ledger.begin({ runId, nonce, worker: 'w/123456789', ttlMs: 60_000, maxAttempts: 1 });
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  const attempt = { runId, nonce, fence: begun.fence };
  if (how === 'succeeded') await ledger.finish(attempt, { kind: how });
  else if (how === 'failed') await ledger.finish(attempt, { kind: how, error: 'Error: no paper' });
  else {
    const unresolvedEffect = { effect: 'card', item: null, unknownReason: 'timeout', since: Date.now() } as const;
    await ledger.finish(attempt, { kind: how, unresolvedEffect, error: 'nobody knows' });
  }
}

async function page(query = ''): Promise<Answers['CronPage']> {
  return (await (await running.ask(`/api/crons${query}`)).json()) as Answers['CronPage'];
}
const names = async (query: string) => (await page(query)).items.map(({ name }) => name);
const triage = async () => (await (await running.ask('/api/triage')).json()) as Answers['Triage'];

/** Histories are read in the background while somebody looks. */
const allRead = () => until('every history is read', async () => (await triage()).unread === 0);

describe('the list of crons', () => {
  it('has the worst first, with its state in words and its newest runs', async () => {
    await allRead();
    const { items, total, next } = await page();
    expect([total, next]).toEqual([4, null]);
    expect(items.map(({ name, health }) => [name, health.state])).toEqual([
      ['c-uncertain', 'uncertain'],
      ['b-failing', 'failing'],
      ['d-paused', 'paused'],
      ['a-healthy', 'healthy'],
    ]);
    expect(items[1]).toMatchObject({
      tags: ['billing', 'eu'],
      health: { failures: 2, text: 'failing (2 in a row)', since: expect.stringMatching(/Z$/) },
      marks: [
        { outcome: 'ran', asked: 'manual', lateByMs: null },
        { outcome: 'failed', runId: expect.stringMatching(/^b-failing@manual-/) },
        { outcome: 'failed' },
      ],
      duration: { p50Ms: expect.any(Number) },
      startDelayP95Ms: null,
    });
  });

  it('notices what happens to a cron', async () => {
    await allRead();
    const before = (await page('?search=a-healthy')).items[0]?.marks?.length ?? 0;
    expect((await running.order('/api/crons/a-healthy/trigger', { reason: 'a look' })).status).toBe(200);
    await until('the run is among its marks', async () => {
      return (await page('?search=a-healthy')).items[0]?.marks?.length === before + 1;
    });
  });

  it('is sorted, filtered and searched', async () => {
    await allRead();
    expect(await names('?sort=name&order=desc')).toEqual(['d-paused', 'c-uncertain', 'b-failing', 'a-healthy']);
    expect(await names('?tag=eu')).toEqual(['c-uncertain', 'b-failing']);
    expect(await names('?tag=billing&state=failing')).toEqual(['b-failing']);
    expect(await names('?state=paused')).toEqual(['d-paused']);
    expect(await names('?search=HEALTHY')).toEqual(['a-healthy']);
    expect(await names(`?failingSince=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual(['b-failing']);
    expect(await names('?failingSince=2026-01-01T00:00:00.000Z')).toEqual([]);
  });

  it('is read a page at a time', async () => {
    const first = await page('?sort=name&limit=3');
    expect(first).toMatchObject({ total: 4, next: expect.any(String) });
    const second = await page(`?sort=name&limit=3&cursor=${first.next}`);
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(await names('?sort=name'));
    expect(second.next).toBeNull();
    expect((await running.ask(`/api/crons?sort=next&cursor=${first.next}`)).status).toBe(400);
  });

  it.each(['tag=Billing', 'sort=size', 'order=up', 'failingSince=yesterday', 'offset=1', 'state=sick'])(
    'refuses %s',
    async (query) => expect((await running.ask(`/api/crons?${query}`)).status).toBe(400),
  );

  it('agrees with the page of one cron', async () => {
    await allRead();
    const one = (await (await running.ask('/api/crons/b-failing')).json()) as Answers['CronDetail'];
    expect(one.health).toEqual((await page('?search=b-failing')).items[0]?.health);
  });
});

describe('the triage', () => {
  it('has what needs a person, with findings of the doctor that are about something else', async () => {
    await allRead();
    const { items, wellSince } = await triage();
    expect(wellSince).toBeNull();
    expect(items.slice(0, 2)).toMatchObject([
      { kind: 'uncertain', count: 1, crons: ['c-uncertain'], danger: 'error' },
      { kind: 'failing', count: 1, crons: ['b-failing'], danger: 'error' },
    ]);
    const codes = items.map(({ code }) => code);
    // No worker is there.
    expect(codes).toContain('NO_WORKER');
    expect(codes).not.toContain('FAILING');
  });
});

describe('a tag', () => {
  it('narrows the leases, and what is due at an instant', async () => {
    const leases = (await (await running.ask('/api/leases?tag=eu')).json()) as Answers['LeasePage'];
    expect([...leases.items.map(({ cron }) => cron), ...leases.free].toSorted()).toEqual(['b-failing', 'c-uncertain']);
    const at = `${new Date().getUTCFullYear() + 1}-01-01T03:00:00Z`;
    const due = await running.ask(`/api/upcoming/at?at=${at}&tag=eu`);
    expect(await due.json()).toMatchObject({ crons: ['b-failing', 'c-uncertain'], count: 2 });
    const ahead = await running.ask('/api/upcoming?hours=24&tag=none');
    expect(await ahead.json()).toMatchObject({ next: [], stampedes: [] });
    expect((await running.ask('/api/leases?tag=No%20tag')).status).toBe(400);
  });
});

describe('an order to many crons', () => {
  const give = (body: object, as?: 'viewer') => running.order('/api/crons/orders', { reason: 'a flood', ...body }, as);
  const read = async (response: Promise<Response>) => (await (await response).json()) as Answers['BulkResult'];
  const records = () => running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false }).list({ limit: 2 });

  it('is shown first, done once, and recorded once', async () => {
    const [newest] = await records();
    const preview = await read(give({ order: 'pause', tag: 'eu', dryRun: true }));
    expect(preview).toMatchObject({ crons: ['b-failing', 'c-uncertain'], done: [] });
    expect((await records())[0]).toEqual(newest);
    expect((await give({ order: 'pause', tag: 'eu', expected: 1 })).status).toBe(409);
    expect(await names('?state=paused')).toEqual(['d-paused']);

    expect(await read(give({ order: 'pause', tag: 'eu', expected: 2 }))).toMatchObject({
      done: preview.crons,
      failed: [],
    });
    expect(await records()).toMatchObject([
      { action: 'pause', by: 'otto', reason: 'a flood', cron: null, after: { tag: 'eu' }, crons: preview.crons },
      newest,
    ]);
    expect((await names('?state=paused&sort=name')).length).toBe(3);
    for (const cron of preview.crons) {
      const found = await running.ask(`/api/audit?cron=${cron}&limit=1`);
      expect(await found.json()).toMatchObject({ items: [{ action: 'pause', cron: null, crons: preview.crons }] });
    }
    expect(await read(give({ order: 'resume', tag: 'eu' }))).toMatchObject({ done: preview.crons });
  });

  it('reports each cron for which it was not done', async () => {
    const both = { order: 'trigger', crons: ['c-uncertain', 'd-paused'] };
    expect(await read(give({ order: 'trigger', crons: ['d-paused'] }))).toMatchObject({ done: ['d-paused'] });
    const report = await read(give(both));
    expect([report.done, report.failed]).toEqual([
      ['c-uncertain'],
      [{ cron: 'd-paused', code: 'STATE_CONFLICT', detail: 'The maximum of open runs is reached.' }],
    ]);
  });

  it('is refused for a viewer, without crons, and for a cron that is not there', async () => {
    expect((await give({ order: 'pause', tag: 'eu' }, 'viewer')).status).toBe(403);
    expect((await give({ order: 'pause' })).status).toBe(400);
    expect((await give({ order: 'remove', tag: 'eu' })).status).toBe(400);
    expect((await give({ order: 'pause', crons: ['nope'] })).status).toBe(404);
  });
});
