import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '@fencepost/ledger';
import { fencepost, declared, FencepostDeployment } from '../support/fencepost.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const SINCE = Date.UTC(2026, 0, 1);
const ASKED = ['--attempt', '1', '--effect', 'card', '--since', '2026-01-01T00:00:00.000Z'];

function deployment(): Promise<FencepostDeployment> {
  return FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh() }, [declared('charge')]);
}

/** A run that was asked for, began to charge a card, and got no answer. */
async function doubtful(at: FencepostDeployment, ledger: Ledger = at.ledger): Promise<string> {
  const { entries } = await at.catalog.read();
  const [runId, nonce] = [`charge@manual-${randomUUID()}`, randomUUID()];
  const generation = entries[0]?.generation ?? 0;
  const words = { reason: 'manual', by: 'ada', payload: null, handler: null, missed: null } as const;
  await ledger.trigger({ runId, nonce, scheduledAt: null, generation, overlap: 'allow', ...words });
  const begun = await ledger.begin({ runId, nonce, worker: 'w', ttlMs: 60_000, maxAttempts: 1 });
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  const attempt = { runId, nonce, fence: begun.fence };
  await ledger.beginEffect(attempt, { name: 'card', ifUnknown: 'go' });
  const unresolvedEffect = { effect: 'card', item: null, unknownReason: 'timeout', since: SINCE } as const;
  await ledger.finish(attempt, { kind: 'uncertain', unresolvedEffect, error: 'nobody knows' });
  return runId;
}

describe('fencepost uncertain and resolve', () => {
  it('shows what a run asks, and fails for it', async () => {
    const at = await deployment();
    const runId = await doubtful(at);
    const { code, json } = await at.json('uncertain', '--cron', 'charge');
    expect(code).toBe(1);
    expect(json).toMatchObject([
      {
        id: runId,
        state: 'uncertain',
        unresolvedEffect: { effect: 'card', since: '2026-01-01T00:00:00.000Z', idempotencyKey: `${runId}/card` },
      },
    ]);
    const text = (await at.ask('uncertain')).out;
    expect(text).toContain(runId);
    expect(text).toContain('timed out');
    const about = ASKED.join(' ');
    expect(text).toContain(`Answer with: fencepost resolve ${runId} ${about} --answer ... --reason ...\n`);
  });

  it('records the answer with who gave it, and has the run go on', async () => {
    const at = await deployment();
    const runId = await doubtful(at);
    const how = ['--answer', 'done', '--result', '{"charge":7}', '--reason', 'seen in the bank', '--by', 'anna'];
    expect(await at.json('resolve', runId, ...ASKED, ...how)).toMatchObject({
      code: 0,
      json: { runId, state: 'enqueued' },
    });
    expect(await at.ledger.effects(runId)).toMatchObject([{ name: 'card', state: 'done', result: '{"charge":7}' }]);
    expect(await at.trail.list({ cron: 'charge', limit: 1 })).toMatchObject([
      { action: 'resolve', by: 'anna', reason: 'seen in the bank', runId },
    ]);
    const again = await at.ask('resolve', runId, ...ASKED, '--answer', 'not-done', '--reason', 'x');
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('Nothing was changed')]);
  });

  it('refuses the answer to a question that the run does not ask, and says what it asks', async () => {
    const at = await deployment();
    const runId = await doubtful(at);
    const how = ['--answer', 'done', '--reason', 'x'];
    const { code, err } = await at.ask('resolve', runId, ...ASKED, '--item', 'alice', ...how);
    expect([code, err]).toEqual([2, expect.stringContaining('now waits for the effect "card" (attempt 1')]);
    expect(await at.ledger.readRun(runId)).toMatchObject({ state: 'uncertain' });
  });

  it.each([
    [['nobody@1', ...ASKED, '--answer', 'done', '--reason', 'x'], 'Run "nobody@1" not found'],
    [['charge@1', ...ASKED, '--answer', 'perhaps', '--reason', 'x'], 'Allowed choices are done, not-done, give-up'],
    [['charge@1', ...ASKED, '--answer', 'done'], '--reason'],
    [['charge@1', '--answer', 'done', '--reason', 'x'], '--attempt'],
  ])('refuses %j with a sentence', async (args, sentence) => {
    const { code, err } = await (await deployment()).ask('resolve', ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
  });
});

describe('fencepost with a ledger in PostgreSQL', () => {
  let postgres: TestPostgres;
  let pool: Pool;
  const schema = freshSchema();
  beforeAll(async () => {
    postgres = await postgresForTests();
    pool = new Pool({ connectionString: postgres.url, max: 2 });
  });
  afterAll(async () => {
    await pool.query(`drop schema if exists "${schema}" cascade`);
    await pool.end();
  });

  it('makes its tables, once', async () => {
    const flags = ['migrate', '--postgres', postgres.url, '--schema', schema, '--json'];
    const first = await fencepost(flags);
    expect(first).toMatchObject({ code: 0, json: { schema, from: 0 } });
    const { to } = first.json as { to: number };
    expect(await fencepost(flags)).toMatchObject({ code: 0, json: { schema, from: to, to } });
  });

  it('says which command makes them where there are none, and who can not be reached', async () => {
    const at = await deployment();
    const missing = await at.ask('uncertain', '--postgres', postgres.url, '--schema', 'nowhere_to_be_found');
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('fencepost migrate')]);
    const away = await fencepost(['migrate', '--postgres', 'postgres://127.0.0.1:1/none']);
    expect([away.code, away.err]).toEqual([3, expect.stringContaining('PostgreSQL could not be reached')]);
    expect(await fencepost(['migrate'])).toMatchObject({ code: 2 });
  });
});
