import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SqlPool, SqlQuery } from '@fencepost/lease/postgres';
import type { AttemptRef, BeginRequest } from '../base/attempting.js';
import type { PostgresAttemptLog } from './postgres-attempt-log.js';
import { attemptSandbox, type AttemptSandbox } from './attempt-sandbox.stage.js';
import { postgresForTests, type TestPostgres } from '../../../../test/support/postgres.js';

const BATCH = 50;

async function beginAll(by: PostgresAttemptLog, runs: readonly string[]): Promise<AttemptRef[]> {
  return Promise.all(
    runs.map(async (runId) => {
      const nonce = randomUUID();
      const begun = await by.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 3 });
      if (begun.verdict !== 'begun') throw new Error(begun.verdict);
      return { runId, fence: begun.fence, nonce };
    }),
  );
}

interface Searches {
  /** How often each index was searched, of those that were. */
  readonly searched: Readonly<Record<string, number>>;
  /** How many entries of these indexes, and how many rows of tables read as a whole, there were in all. */
  readonly read: number;
}

describe('a batch of a session whose statistics say nothing of the tables as they are', () => {
  let server: TestPostgres;

  let sandbox: AttemptSandbox;

  /** Of one session, whose plans are those it made first. */
  let pool: Pool;

  let ledger: PostgresAttemptLog;

  beforeAll(async () => {
    server = await postgresForTests();
  });

  beforeEach(async () => {
    sandbox = await attemptSandbox(server.url);
    pool = sandbox.another({ max: 1 });
    ledger = sandbox.attempts({ pool });
    for (const table of ['run', 'cron']) {
      await sandbox.pool.query(`alter table "${sandbox.schema}".${table} set (autovacuum_enabled = false)`);
    }
    return () => sandbox.close();
  });

  /** Runs of so many crons, of which a batch is named; nobody analyzes what has become of the tables. */
  async function grow({ runs, crons }: { readonly runs: number; readonly crons: number }): Promise<string[]> {
    await sandbox.value(
      `insert into :schema.cron (space, name) select 'test:default', 'grown-' || n from generate_series(0, $1::int - 1) n
     on conflict do nothing`,
      crons,
    );
    const ids = Array.from({ length: runs }, (_, n) => `grown-${n % crons}@manual-${randomUUID()}`);
    await insert(sandbox.pool, ids);
    return ids.slice(-BATCH);
  }

  async function insert(into: Pool, ids: readonly string[]): Promise<void> {
    await into.query(
      `insert into "${sandbox.schema}".run (space, id, cron, state, scheduled_at, due_at, reason, generation, claim_fence,
       claim_nonce, claimed_at, delivery, overlap, open_until, watch_at)
     select 'test:default', id, split_part(id, '@', 1), 'enqueued', n, n, 'manual', 1, 0, '', 1, 1, 'allow',
       9223372036854775807, 1 from unnest($1::text[]) with ordinality as list (id, n)`,
      [ids],
    );
  }

  /** Grows the table, of which the session then knows how high the index of its key is, and not that the others have grown. */
  async function growUnseen(early: number): Promise<string[]> {
    await grow({ runs: early, crons: 1 });
    // Whoever has to do with an index remembers how high it was, until the next time.
    await insert(pool, ['early@1']);
    expect(await ledger.effects('early@1')).toEqual([]);
    const runs = await grow({ runs: 7_000 - early, crons: 1 });
    await pool.query(`select from "${sandbox.schema}".run where space = 'test:default' and id = $1`, [runs[0]]);
    return runs;
  }

  async function finishAll(refs: readonly AttemptRef[]): Promise<void> {
    const states = await Promise.all(refs.map((ref) => ledger.finish(ref, { kind: 'succeeded' })));
    expect(new Set(states)).toEqual(new Set(['succeeded']));
  }

  /** What the session has looked at meanwhile. */
  async function searches(work: () => Promise<unknown>): Promise<Searches> {
    const before = await counted();
    await work();
    const after = await counted();
    const since = [...after].map(([name, [scans, read]]) => {
      const [scansBefore, readBefore] = before.get(name) ?? [0, 0];
      return { name, scans: scans - scansBefore, read: read - readBefore };
    });
    const busy = since.filter(({ scans }) => scans > 0);
    return {
      searched: Object.fromEntries(busy.map(({ name, scans }) => [name, scans])),
      read: busy.reduce((sum, { read }) => sum + read, 0),
    };
  }

  /** Scans, and the entries they have read, of each index and each table. */
  async function counted(): Promise<Map<string, readonly [number, number]>> {
    // Also of the session that has made the tables, which would else report that in the middle of a measurement.
    for (const session of [pool, sandbox.pool]) await session.query('select pg_stat_force_next_flush()');
    const { rows } = await sandbox.pool.query<{ name: string; scans: number; read: number }>(
      `select indexrelname as name, idx_scan::int as scans, idx_tup_read::int as read
       from pg_stat_user_indexes where schemaname = $1
     union all
     select relname, seq_scan::int, seq_tup_read::int from pg_stat_user_tables where schemaname = $1`,
      [sandbox.schema],
    );
    return new Map(rows.map(({ name, scans, read }) => [name, [scans, read]]));
  }

  it('looks up each run and each cron by its key, when its plans are from an empty ledger', async () => {
    await sandbox.pool.query(`vacuum analyze "${sandbox.schema}".run, "${sandbox.schema}".cron`);
    await finishAll(await beginAll(ledger, [await sandbox.enqueued()]));
    const runs = await grow({ runs: 2_000, crons: 2_000 });
    let refs: AttemptRef[] = [];
    const begin = await searches(async () => (refs = await beginAll(ledger, runs)));
    expect(begin.searched).toEqual({ run_pkey: BATCH, cron_pkey: BATCH });
    expect(begin.read).toBe(2 * BATCH);
    const end = await searches(() => finishAll(refs));
    expect(end.searched).toEqual({ run_pkey: BATCH, cron_pkey: BATCH });
    expect(end.read).toBeLessThanOrEqual(4 * BATCH);
  });

  // So many entries that an index gets higher by two until there are 7,000, and by one.
  it.each([{ early: 2 }, { early: 3_000 }])(
    'looks up each run by its key, when the session knows another index from when that had $early entries',
    async ({ early }) => {
      const runs = await growUnseen(early);
      const begin = await searches(() => beginAll(ledger, runs));
      expect(begin.searched).toEqual({ run_pkey: BATCH, cron_pkey: 1 });
    },
  );

  it.each([{ early: 2 }, { early: 3_000 }])(
    'ends each run by its key, when the session knows another index from when that had $early entries',
    async ({ early }) => {
      const refs = await beginAll(sandbox.attempts(), await growUnseen(early));
      const end = await searches(() => finishAll(refs));
      expect(end.searched).toEqual({ run_pkey: BATCH, cron_pkey: 1 });
    },
  );

  /** What comes to one run alone: a look-up by its key each, some in the functions that a batch leaves it to. */
  const alone = async (runId: string) => {
    const [ref] = (await beginAll(ledger, [runId])) as [AttemptRef];
    await ledger.heartbeat(ref, 60_000);
    await ledger.noteWaiting(runId, 'no-capable-worker');
    await ledger.beginEffect(ref, { name: 'charge', ifUnknown: 'tell' });
    await ledger.finishEffect(ref, 'charge', { kind: 'done', result: '1' });
    await ledger.finish(ref, { kind: 'retry', error: 'no', delayMs: 0 });
    const [again] = (await beginAll(ledger, [runId])) as [AttemptRef];
    await ledger.readRun(runId);
    await ledger.finish(again, { kind: 'failed', error: 'no' });
  };

  const TABLES = ['run', 'cron', 'effect', 'effect_begun', 'item', 'notification'];

  it.each(['never analyzed', 'analyzed while they were empty'])(
    'looks up one run by its key in tables that were %s, with plans that are never made anew',
    async (state) => {
      const tables = TABLES.map((table) => `"${sandbox.schema}".${table}`).join(', ');
      if (state !== 'never analyzed') await sandbox.pool.query(`vacuum analyze ${tables}`);
      await pool.query('set plan_cache_mode = force_generic_plan');
      await alone(await sandbox.enqueued());
      const [runId] = (await grow({ runs: 5_000, crons: 5 })) as [string];
      const found = await searches(() => alone(runId));
      expect(found.searched).not.toHaveProperty('run');
      expect(Object.keys(found.searched).filter((name) => name.startsWith('run_'))).toEqual(['run_pkey']);
      expect(found.read).toBeLessThan(100);
    },
  );
});

const LONG_MS = 60_000;

function attempt(runId: string): BeginRequest {
  return { runId, nonce: randomUUID(), worker: 'worker/1', ttlMs: LONG_MS, maxAttempts: 3 };
}

describe('the attempts of one turn, of many crons', () => {
  let server: TestPostgres;

  let sandbox: AttemptSandbox;

  beforeAll(async () => {
    server = await postgresForTests();
    sandbox = await attemptSandbox(server.url);
  });

  afterAll(async () => {
    await sandbox.close();
  });

  /**
   * A pool whose server looks for circles almost at once, and which counts them: of each, one side is told that it was given
   * up. The server's own counter is no measure, because it is behind, and counts what happens in other tests as well.
   */
  function circleCounter() {
    const own = sandbox.another({ max: 12, options: '-c deadlock_timeout=10ms' });
    const counted = { circles: 0 };
    const asked = async (connection: PoolClient, query: SqlQuery) => {
      try {
        return await connection.query(query);
      } catch (error) {
        if (Reflect.get(Object(error), 'code') === '40P01') counted.circles += 1;
        throw error;
      }
    };
    const connect: SqlPool['connect'] = async () => {
      const connection = await own.connect();
      const query = (text: SqlQuery) => asked(connection, text);
      return new Proxy(connection, { get: (target, key) => (key === 'query' ? query : Reflect.get(target, key)) });
    };
    return { counted, pool: { connect, query: (query: SqlQuery) => own.query(query) } };
  }

  it.each(['begin', 'heartbeat', 'finish'] as const)('lock them in the order of their names (%s)', async (call) => {
    const names = 'hcajedbigf'.split('').map((name) => `${call}-${name}`);
    const runs = await Promise.all(names.map((cron) => sandbox.enqueued({ cron })));
    const attempts = call === 'begin' ? [] : await Promise.all(runs.map((runId) => sandbox.begun(runId)));
    const ledger = sandbox.attempts();
    const held = await sandbox.transaction(`select from "${sandbox.schema}".cron where name = '${call}-e' for update`);
    const asked = {
      begin: () => runs.map((runId) => ledger.begin(attempt(runId))),
      heartbeat: () => attempts.map((one) => ledger.heartbeat(one, LONG_MS)),
      finish: () => attempts.map((one) => ledger.finish(one, { kind: 'succeeded' })),
    }[call]();
    await sandbox.untilBlocked(1);
    const free = `select name from :schema.cron where name like $1 order by name for update skip locked`;
    const unlocked = await sandbox.value(`select array_agg(name) from (${free}) as free`, `${call}-%`);
    await held.commit();
    await Promise.all(asked);
    expect(unlocked).toEqual('fghij'.split('').map((name) => `${call}-${name}`));
  });

  it('never wait for each other in a circle, however many share their crons', async () => {
    const crons = Array.from({ length: 12 }, (_, n) => `shared-${n}`);
    const { pool, counted } = circleCounter();
    // A ledger each, so that the batches don't wait in one line; every second one asks in the opposite order.
    const workers = Array.from({ length: 12 }, async (_, n) => {
      const ledger = sandbox.attempts({ pool });
      const runs = await Promise.all(
        (n % 2 === 0 ? crons : crons.toReversed()).map((cron) => sandbox.enqueued({ cron })),
      );
      const requests = runs.map(attempt);
      const begun = await Promise.all(requests.map((request) => ledger.begin(request)));
      const refs = begun.map((reply, at) => {
        if (reply.verdict !== 'begun') throw new Error(`Expected to begin, got ${reply.verdict}.`);
        return { runId: reply.run.id, fence: reply.fence, nonce: requests[at]?.nonce ?? '' };
      });
      await Promise.all(refs.map((ref) => ledger.heartbeat(ref, LONG_MS)));
      return Promise.all(refs.map((ref) => ledger.finish(ref, { kind: 'succeeded' })));
    });
    const ended = await Promise.all(workers);
    expect(ended.flat()).toEqual(Array.from({ length: 144 }, () => 'succeeded'));
    expect(counted.circles).toBe(0);
  });
});
