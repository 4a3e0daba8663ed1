import { randomUUID } from 'node:crypto';
import { LEDGER } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { AUDIT_TRAIL, CronCatalog } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

let running: RunningApp;
const CRON = 'import-orders';

beforeAll(async () => {
  running = await startSchedulerApp();
  const crons = running.app.get(CronCatalog, { strict: false });
  await crons.set(CRON, { expression: '@manual', overlap: 'allow' }, { by: 'test' });
});
afterAll(() => running.close());

type Json = Record<string, unknown>;
const json = async (response: Response | Promise<Response>) => (await (await response).json()) as Json;
const trail = () => running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false }).list({ limit: 1 });

async function triggered(): Promise<string> {
  return String((await json(running.order(`/api/crons/${CRON}/trigger`, { reason: 'a try', force: true })))['runId']);
}

/** A run that ended so; `null`: it asks what became of an effect. */
async function ended(error: string | null): Promise<string> {
  const ledger = running.app.get<Ledger>(LEDGER, { strict: false });
  const [runId, nonce] = [await triggered(), randomUUID()];
  const begun = await ledger.begin({ runId, nonce, worker: 'worker-9/abc', ttlMs: 60_000, maxAttempts: 1 });
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  const attempt = { runId, nonce, fence: begun.fence };
  const unresolvedEffect = { effect: 'card', item: null, unknownReason: 'timeout', since: SINCE } as const;
  if (error === null) await ledger.beginEffect(attempt, { name: 'card', ifUnknown: 'tell' });
  const outcome = error === null ? ({ kind: 'uncertain', unresolvedEffect, error: 'unknown' } as const) : null;
  await ledger.finish(attempt, outcome ?? { kind: 'failed', error: error ?? '' });
  return runId;
}

const SINCE = Date.UTC(2026, 0, 1);

interface Failure {
  readonly fingerprint: string;
  readonly error: string;
  readonly count: number;
  readonly runIds: string[];
}

describe('runs of all crons', () => {
  it('are found by state, error and worker, and failures are grouped by their error', async () => {
    const [one, two] = [await ended('Error: shard 4 is away'), await ended('Error: shard 17 is away')];
    const other = await ended('Error: no paper');
    const { items } = (await json(running.ask('/api/runs/failures'))) as { items: Failure[] };
    expect(items[0]).toMatchObject({ error: 'Error: shard 17 is away', count: 2, crons: [CRON], runIds: [two, one] });
    const ids = async (query: string) =>
      ((await json(running.ask(`/api/runs?${query}`)))['items'] as { id: string }[]).map(({ id }) => id);
    expect(await ids(`fingerprint=${items[0]?.fingerprint}`)).toEqual([two, one]);
    expect(await ids('state=failed&error=paper')).toEqual([other]);
    expect(await ids('state=failed,uncertain&worker=worker-9&limit=1')).toEqual([other]);
    expect(await ids('state=succeeded')).toEqual([]);
    const { next, complete } = await json(running.ask('/api/runs?state=failed&limit=2'));
    expect(complete).toBe(true);
    expect(await ids(`state=failed&limit=2&cursor=${String(next)}`)).toEqual([one]);
  });

  it.each(['state=asleep', 'from=yesterday', 'fingerprint=zz', 'minDurationMs=-1', 'limit=0'])(
    'are not searched by %s',
    async (query) => expect((await running.ask(`/api/runs?${query}`)).status).toBe(400),
  );
});

describe('one run', () => {
  it('has its attempts, and the runs beside it', async () => {
    const [before, id] = [await ended('Error: first'), await ended('Error: second')];
    const shown = await json(running.ask(`/api/runs/${encodeURIComponent(id)}`));
    expect(shown).toMatchObject({ neighbours: { previous: before, next: null, previousSuccess: null } });
    expect(shown['attempts']).toMatchObject([
      { number: 1, worker: 'worker-9/abc', beganAt: expect.stringMatching(/Z$/) },
    ]);
  });
});

describe('an order to several runs', () => {
  const order = (body: object) => running.order('/api/runs/orders', { reason: 'the shard is back', ...body });

  it('is carried out for each that it may be, says why not for the others, and is one audit record', async () => {
    const [one, two, waiting] = [await ended('Error: a'), await ended('Error: b'), await triggered()];
    const reply = await json(order({ order: 'retry', runIds: [one, waiting, two, one] }));
    expect(reply).toEqual({
      order: 'retry',
      done: [one, two],
      failed: [{ runId: waiting, code: 'RUN_STATE', detail: expect.stringContaining('can be run again') }],
    });
    expect(await trail()).toEqual([
      expect.objectContaining({
        ...{ by: 'otto', action: 'retry', reason: 'the shard is back', cron: null, runId: null },
        crons: [CRON],
        after: expect.objectContaining({ done: [one, two] }),
      }),
    ]);
    expect(await json(order({ order: 'cancel', runIds: [waiting, one] }))).toMatchObject({
      done: [waiting],
      failed: [{ runId: one, code: 'STATE_CONFLICT' }],
    });
  });

  it('that was carried out for none leaves no record', async () => {
    const before = await trail();
    const reply = await json(order({ order: 'retry', runIds: [`${CRON}@none`] }));
    expect(reply).toMatchObject({ done: [], failed: [{ code: 'RUN_UNKNOWN' }] });
    expect(await trail()).toEqual(before);
  });

  it('answers only the question that was shown of each run', async () => {
    const [one, two] = [await ended(null), await ended(null)];
    const asked = (runId: string, effect: string) => ({
      runId,
      attempt: 1,
      effect,
      since: new Date(SINCE).toISOString(),
    });
    const whole = { order: 'resolve', answer: 'give-up', runIds: [one, two] };
    expect((await order({ ...whole, asked: [asked(one, 'card')] })).status).toBe(400);
    expect((await order({ order: 'resolve', runIds: [one], asked: [asked(one, 'card')] })).status).toBe(400);
    expect(await json(order({ ...whole, asked: [asked(one, 'card'), asked(two, 'mail')] }))).toMatchObject({
      done: [one],
      failed: [{ runId: two, code: 'RUN_STATE' }],
    });
  });

  it('is for an operator, with a reason, to 100 runs at most', async () => {
    const runIds = [`${CRON}@none`];
    expect((await running.order('/api/runs/orders', { order: 'retry', runIds, reason: 'r' }, 'viewer')).status).toBe(
      403,
    );
    expect((await running.order('/api/runs/orders', { order: 'retry', runIds })).status).toBe(400);
    const many = Array.from({ length: 101 }, (_, n) => `${CRON}@${n}`);
    expect((await order({ order: 'retry', runIds: many })).status).toBe(400);
  });
});

describe('the definition of a cron', () => {
  const put = (name: string, body: object, as: 'admin' | 'operator' = 'admin') =>
    running.ask(`/api/crons/${name}`, {
      ...{ as, method: 'PUT', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ reason: 'a new hour', ...body }),
    });
  const NIGHTLY = { expression: '0 3 * * *', timeZone: 'Europe/Berlin', grace: '5m', payload: { of: 'test' } };

  it('is validated first, and then made, with one audit record', async () => {
    const before = await trail();
    const looked = await json(put('nightly', { settings: NIGHTLY, dryRun: true }));
    expect(looked).toMatchObject({
      change: 'new',
      dryRun: true,
      generation: null,
      added: { count: 7 },
      gone: { count: 0 },
    });
    expect(looked['next']).toHaveLength(10);
    expect(await trail()).toEqual(before);
    expect((await running.ask('/api/crons/nightly')).status).toBe(404);
    expect(await json(put('nightly', { settings: NIGHTLY, expected: null }))).toMatchObject({ generation: 1 });
    expect(await trail()).toMatchObject([{ by: 'anna', action: 'set', cron: 'nightly', reason: 'a new hour' }]);
    expect(await json(running.ask('/api/crons/nightly'))).toMatchObject({ expression: '0 3 * * *', graceMs: 300_000 });
  });

  it('keeps the options that are not named, and resets those that are null', async () => {
    const settings = { expression: '30 3 * * *', payload: null };
    const changed = await json(put('nightly', { settings, expected: 1 }));
    expect(changed).toMatchObject({ change: 'changed', parts: ['expression', 'payload'], generation: 2 });
    expect(await json(running.ask('/api/crons/nightly'))).toMatchObject({
      ...{ expression: '30 3 * * *', timeZone: 'Europe/Berlin', graceMs: 300_000, payload: null },
    });
    expect(await json(put('nightly', { settings: { every: '10m' }, dryRun: true }))).toMatchObject({
      change: 'changed',
      parts: ['expression', 'timeZone'],
    });
    expect(await json(put('nightly', { settings: { timeZone: 'Europe/Berlin' }, dryRun: true }))).toMatchObject({
      change: 'same',
    });
  });

  it('says which kept option makes a change invalid', async () => {
    const settings = { expression: '0 3 * * *', misfire: 'fire-all', maxCatchUp: 5 };
    expect((await put('kept', { settings })).status).toBe(200);
    const refused = await put('kept', { settings: { misfire: 'skip' } });
    expect([refused.status, (await json(refused))['detail']]).toEqual([
      400,
      expect.stringContaining('"maxCatchUp" was not named and is kept: name it too, or reset it.'),
    ]);
    const reset = await json(put('kept', { settings: { misfire: 'skip', maxCatchUp: null } }));
    expect(reset).toMatchObject({ parts: ['misfire', 'maxCatchUp'], generation: 2 });
  });

  it('restores a removed cron with its last definition, and says so before', async () => {
    await put('restored', { settings: NIGHTLY });
    const order = { as: 'admin', method: 'DELETE' } as const;
    expect((await running.ask('/api/crons/restored?reason=gone', order)).status).toBe(200);
    const change = { change: 'restored', parts: ['expression'] };
    const settings = { expression: '30 4 * * *' };
    expect(await json(put('restored', { settings, dryRun: true }))).toMatchObject({ ...change, added: { count: 7 } });
    expect(await json(put('restored', { settings }))).toMatchObject({ ...change, generation: 3 });
    expect(await json(running.ask('/api/crons/restored'))).toMatchObject({
      ...{ state: 'active', expression: '30 4 * * *', timeZone: 'Europe/Berlin', graceMs: 300_000 },
      payload: NIGHTLY.payload,
    });
  });

  it('that is another one by now is not changed, nor is one that can not be', async () => {
    const moved = await put('nightly', { settings: NIGHTLY, expected: 1 });
    expect([moved.status, (await json(moved))['code']]).toEqual([409, 'CATALOG_MOVED']);
    const present = await put('nightly', { settings: NIGHTLY, expected: null });
    expect([present.status, (await json(present))['code']]).toEqual([409, 'CATALOG_MOVED']);
    const wrong = await put('nightly', { settings: { ...NIGHTLY, timeZone: 'Europe/Berln' }, dryRun: true });
    expect([wrong.status, (await json(wrong))['code']]).toEqual([400, 'CRON_DECLARATION']);
    expect((await put('nightly', { settings: NIGHTLY }, 'operator')).status).toBe(403);
  });
});
