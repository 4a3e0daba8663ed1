import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef, CronRecord } from '@fencepost/ledger';
import { PostgresAuditTrail, PostgresCatalog, PostgresLedger, migrateLedger } from '@fencepost/ledger/postgres';
import type { EffectRecord, Run } from '@fencepost/ledger/run';
import { postgresSandbox, type PostgresSandbox } from '../support/postgres-sandbox.js';
import { postgresForTests } from '../support/postgres.js';
import { redisSpaces } from '../jobs/redis-space.js';

/** A run whose row a build wrote, and what that build read of it. */
interface Kept {
  readonly what: string;
  readonly runId: string;
  /** Without a result, which runs have since. */
  readonly run: Omit<Run, 'result'>;
  readonly effects: readonly EffectRecord[];
  readonly attempt?: AttemptRef;
}

const here = new URL('.', import.meta.url);
const text = (path: string) => readFileSync(new URL(path, here), 'utf8');
const versions = readdirSync(here, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
  const [, name, version] = /^(.*postgres-(\d+))\.sql$/.exec(path) ?? [];
  return name === undefined ? [] : [{ name, version: Number(version) }];
});
const CRON = 'nightly-report';
/** None of them is ever too old to be read. */
const EVER_MS = 100 * 365 * 86_400_000;
const spaces = redisSpaces();

let url: string;
let sandbox: PostgresSandbox;
beforeAll(async () => {
  url = (await postgresForTests()).url;
});
afterEach(() => sandbox.close());

/** Written by `write-postgres.mjs` of the build of each version. */
describe.each(versions)('the tables and rows of $name', ({ name, version }) => {
  const { cron, runs } = JSON.parse(text(`${name}.json`)) as { cron: CronRecord; runs: Kept[] };
  let ledger: PostgresLedger;

  const options = () => {
    const space = { prefix: 'kept', tenant: 'default', schema: sandbox.schema, timing: { keepMs: EVER_MS } };
    return { ...space, pool: sandbox.pool, redis: spaces.redis() };
  };

  beforeEach(async () => {
    sandbox = postgresSandbox(url);
    const { schema, pool } = sandbox;
    await pool.query(`create schema "${schema}"; ${text(`${name}.sql`).replaceAll('kept.', `"${schema}".`)}`);
    expect(await migrateLedger(pool, { schema })).toMatchObject({ from: version });
    ledger = new PostgresLedger(options());
  });

  it.each(runs)('are read as they were written: $what', async ({ runId, run, effects }) => {
    expect(await ledger.readRun(runId)).toEqual({ result: null, ...run });
    expect(await ledger.effects(runId)).toEqual(effects);
  });

  it('keep what is known of a cron, its runs in order and its ends that nobody has been notified of', async () => {
    expect(await ledger.readCron(CRON)).toEqual(cron);
    const newestFirst = runs.map(({ runId }) => runId).toReversed();
    expect((await ledger.runs(CRON, 100)).map(({ id }) => id)).toEqual(newestFirst);
    expect(await ledger.skips(CRON, 100)).toMatchObject([{ reason: 'misfire' }]);
    expect(await ledger.notifications(CRON, 10)).toMatchObject([{ state: 'failed' }]);
  });

  it('keep the catalog and the audit trail', async () => {
    const catalog = new PostgresCatalog(options());
    const { entries } = await catalog.read();
    expect(entries).toMatchObject([{ definition: { name: CRON }, app: 'kept', revision: null }]);
    const declared = entries.map(({ definition }) => ({ definition, disabled: false }));
    expect(await catalog.declare(declared, { app: 'kept', revision: 1 })).toEqual([{ cron: CRON, word: 'noted' }]);
    const [record] = await new PostgresAuditTrail(options()).list({ limit: 10 });
    expect(record).toMatchObject({ by: 'ada', action: 'pause', cron: CRON });
  });

  it.each(['claimed', 'enqueued', 'retrying'])('go on where they stood: %s', async (what) => {
    const { runId, run } = runs.find((one) => one.what === what) as Kept;
    const request = { runId, nonce: 'next', worker: 'w', ttlMs: 60_000, maxAttempts: 3 };
    const begun = await ledger.begin(request);
    if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
    expect(begun.attempt).toBe(run.attempt + 1);
    expect(await ledger.finish({ runId, nonce: 'next', fence: begun.fence }, { kind: 'succeeded' })).toBe('succeeded');
  });

  it('are ended by the attempt that began them, and by no other', async () => {
    const { attempt } = runs.find((one) => one.what === 'running') as { attempt: AttemptRef };
    expect(await ledger.finish({ ...attempt, nonce: 'other' }, { kind: 'succeeded' })).toBeNull();
    expect(await ledger.finishEffect(attempt, 'charge', { kind: 'done', result: '1' })).toBe('recorded');
    expect(await ledger.finish(attempt, { kind: 'succeeded' })).toBe('succeeded');
  });
});
