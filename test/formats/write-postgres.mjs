/**
 * Writes `<format>/postgres-<version>.sql` and `.json`: the tables and rows of this build, and what it reads of them. Once for
 * each version, by the build that made it, with a pg_dump: DATABASE_URL=… node test/formats/write-postgres.mjs <format>
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Pool } from 'pg';
import { parseFence } from '@fencepost/lease';
import { definitionSet } from '@fencepost/ledger/catalog';
import { migrateLedger, PostgresAuditTrail, PostgresCatalog, PostgresLedger } from '@fencepost/ledger/postgres';

const SCHEMA = 'kept';
const CRON = 'nightly-report';
const LONG_MS = 60_000;
const DUE = Date.UTC(2026, 0, 5, 3);
const url = process.env.DATABASE_URL;
const pool = new Pool({ connectionString: url });
await pool.query(`drop schema if exists ${SCHEMA} cascade`);
const { to: version } = await migrateLedger(pool, { schema: SCHEMA });
const options = { pool, schema: SCHEMA, prefix: 'kept', tenant: 'default', redis: { publish: async () => 0 } };
const ledger = new PostgresLedger(options);

const definition = { name: CRON, expression: '0 3 * * *', timeZone: 'UTC', misfire: 'fire-once', overlap: 'skip' };
const declared = { definition: { ...definition, graceMs: 60_000, catchUpWindowMs: null }, disabled: false };
const catalog = new PostgresCatalog(options);
const revision = await catalog.revisions.enrol(definitionSet({ app: 'kept' }, [declared]));
await catalog.declare([declared], { app: 'kept', revision });
const order = { by: 'ada', role: 'operator', action: 'pause', cron: CRON, runId: null, before: null, after: null };
await new PostgresAuditTrail(options).append({ ...order, reason: 'a release', from: 'cli host' }, 'record');

const ref = (runId, begun) => ({ runId, nonce: `of-${runId}`, fence: begun.fence });
const begin = async (runId, notify = '') => {
  const request = { runId, nonce: `of-${runId}`, worker: 'worker/1', ttlMs: LONG_MS, maxAttempts: 3, notify };
  return ref(runId, await ledger.begin(request));
};
const unresolvedEffect = { effect: 'charge', item: null, since: DUE, reason: 'no-answer' };

const steps = {
  claimed: async () => {},
  enqueued: (run) => ledger.confirm([run]),
  running: async (run) => {
    const attempt = await begin(run, 'failed');
    await ledger.beginEffect(attempt, { name: 'charge', ifUnknown: 'tell', payloadHash: 'sent' });
    return attempt;
  },
  succeeded: async (run) => {
    const attempt = await begin(run);
    await ledger.beginEffect(attempt, { name: 'charge', ifUnknown: 'go' });
    await ledger.finishEffect(attempt, 'charge', { kind: 'done', result: '{"id":1}' });
    await ledger.finish(attempt, { kind: 'succeeded' });
  },
  retrying: async (run) => ledger.finish(await begin(run), { kind: 'retry', error: 'Error: no', delayMs: 0 }),
  failed: async (run) => ledger.finish(await begin(run, 'failed'), { kind: 'failed', error: 'Error: no' }),
  uncertain: async (run) => ledger.finish(await begin(run), { kind: 'uncertain', error: 'unknown', unresolvedEffect }),
  cancelled: (run) => ledger.cancel(run, { by: 'ada', reason: 'not now', graceMs: 0, nonce: 'cancel' }),
};

const kept = [];
for (const [n, [what, step]] of Object.entries(steps).entries()) {
  const scheduledAt = DUE + n * 86_400_000;
  const { cursor } = await ledger.readCron(CRON);
  const occurrence = { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null };
  const skips = n === 0 ? [{ after: DUE - 2, through: DUE - 1, reason: 'misfire' }] : [];
  const claim = {
    cron: CRON,
    fence: parseFence('7'),
    term: 'term',
    holder: 'pod/1',
    generation: 1,
    nonce: what,
    skips,
  };
  const { runId } = await ledger.claim({ ...claim, cursor, occurrence, overlap: 'allow', payload: '{"a":1}' });
  const attempt = await step(runId);
  kept.push({ what, runId, ...(what === 'running' && { attempt }) });
}
const read = async (one) => ({
  ...one,
  run: await ledger.readRun(one.runId),
  effects: await ledger.effects(one.runId),
});
const runs = await Promise.all(kept.map(read));
await ledger.pause(CRON, { by: 'ada', reason: 'a release', until: null });
const cron = await ledger.readCron(CRON);

const dump = execFileSync('pg_dump', ['--inserts', '--no-owner', '-t', `${SCHEMA}.*`, url], { encoding: 'utf8' });
const statements = dump
  .split('\n')
  .filter((line) => line !== '' && !/^(--|\\|SET |SELECT pg_catalog.set_config)/.test(line));
const folder = new URL(`${process.argv[2]}/`, import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL(`postgres-${version}.sql`, folder), `${statements.join('\n')}\n`);
writeFileSync(new URL(`postgres-${version}.json`, folder), `${JSON.stringify({ cron, runs }, null, 2)}\n`);
await pool.query(`drop schema ${SCHEMA} cascade`);
await pool.end();
