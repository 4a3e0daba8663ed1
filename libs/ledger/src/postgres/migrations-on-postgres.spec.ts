import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { PostgresLedgerAccess } from './postgres-ledger-access.js';
import { migrateLedger } from './postgres-migrations.js';
import { FUNCTIONS_HASH, LEDGER_VERSION } from './postgres-ledger-version.js';
import { postgresSandbox, type PostgresSandbox } from '../../../../test/support/postgres-sandbox.js';
import { postgresForTests, type TestPostgres } from '../../../../test/support/postgres.js';

let postgres: TestPostgres;
let sandbox: PostgresSandbox;
beforeAll(async () => {
  postgres = await postgresForTests();
});
beforeEach(() => {
  sandbox = postgresSandbox(postgres.url);
});
afterEach(() => sandbox.close());

const NOW = { from: LEDGER_VERSION, to: LEDGER_VERSION };

async function rows(text: string, values: unknown[] = []): Promise<unknown[]> {
  return (await sandbox.pool.query(text, values)).rows;
}

/** What version 5 takes away, without what later ones add. */
const OF_VERSION_4 = `
  alter table catalog_state drop column audit_taken, drop column audit_taken_from, drop column audit_taken_nonce;
  update ledger_version set version = 4, functions = 'older';
  create table action (space text, cron text);
  create function note_action(text, text, bigint, text, text, text, text) returns void language sql as '';
  create function cancel_run(text, text, text, text, bigint, text) returns jsonb language sql as 'select null::jsonb';
  create function resume_cron(text, text, text, text, text) returns json language sql as 'select null::json'`;

/** Everything that is there, with the transaction that wrote it. */
function everything(schema: string): Promise<unknown[]> {
  return rows(
    `select relname::text as name, pg_class.xmin::text from pg_class
       join pg_namespace on pg_namespace.oid = relnamespace where nspname = $1
     union all
     select oid::regprocedure::text, xmin::text from pg_proc where pronamespace = $1::regnamespace
     union all
     select version::text, xmin::text from "${schema}".ledger_version
     order by 1`,
    [schema],
  );
}

function readCrons(schema: string, over: { readonly tenant?: string } = {}): Promise<unknown> {
  const access = new PostgresLedgerAccess({ pool: sandbox.pool, prefix: 'test', tenant: 'default', schema, ...over });
  return access.call('read_crons', [access.space, ['a']]);
}

describe('migrateLedger', () => {
  it('makes the schema, its tables and its functions, and says from where to where it went', async () => {
    const { schema } = sandbox;
    expect(await migrateLedger(sandbox.pool, { schema })).toEqual({ from: 0, to: LEDGER_VERSION });
    expect(await rows(`select version, functions from "${schema}".ledger_version`)).toEqual([
      { version: LEDGER_VERSION, functions: FUNCTIONS_HASH },
    ]);
    expect(await readCrons(schema)).toMatchObject([{ cursor: null, refusals: 0 }]);
  });

  it('installs the functions again when they are not those of this release', async () => {
    const { schema } = sandbox;
    await migrateLedger(sandbox.pool, { schema });
    await rows(`update "${schema}".ledger_version set functions = 'those of another release'`);
    await rows(`create or replace function "${schema}".now_ms() returns bigint language sql as 'select 1::bigint'`);
    expect(await migrateLedger(sandbox.pool, { schema })).toEqual(NOW);
    const [clock] = await rows(`select "${schema}".now_ms()::text as now`);
    expect(Number((clock as { now: string }).now)).toBeGreaterThan(1_000_000);
    expect(await rows(`select functions from "${schema}".ledger_version`)).toEqual([{ functions: FUNCTIONS_HASH }]);
  });

  it('refuses a schema that a newer release has migrated, and leaves it alone', async () => {
    const { schema } = sandbox;
    await migrateLedger(sandbox.pool, { schema });
    await rows(`insert into "${schema}".ledger_version (version, functions) values (${LEDGER_VERSION + 1}, 'newer')`);
    const before = await everything(schema);
    const refusal = migrateLedger(sandbox.pool, { schema });
    await expect(refusal).rejects.toThrow(SetupError);
    await expect(refusal).rejects.toThrow(`found version ${LEDGER_VERSION + 1}`);
    await expect(refusal).rejects.toThrow('Update @fencepost/jobs');
    expect(await everything(schema)).toEqual(before);
  });

  it('leaves nothing behind when it is cut off in the middle, and gives its connection back', async () => {
    const { schema } = sandbox;
    // A table of somebody else, of a name that the migration needs.
    await rows(`create schema "${schema}"; create table "${schema}".item (mine text)`);
    await expect(migrateLedger(sandbox.pool, { schema })).rejects.toMatchObject({ code: '42P07' });
    expect(await rows(`select relname::text from pg_class where relnamespace = $1::regnamespace`, [schema])).toEqual([
      { relname: 'item' },
    ]);
    await rows(`drop table "${schema}".item`);
    expect(await migrateLedger(sandbox.pool, { schema })).toEqual({ from: 0, to: LEDGER_VERSION });
  });

  it('takes the list of orders, and what wrote it, from a schema of version 4', async () => {
    const { schema } = sandbox;
    await migrateLedger(sandbox.pool, { schema });
    await sandbox.pool.query(`set search_path to "${schema}"; ${OF_VERSION_4}; reset search_path`);
    expect(await migrateLedger(sandbox.pool, { schema })).toEqual({ from: 4, to: LEDGER_VERSION });
    const found = await rows(
      `select proname::text as name, pronargs as args from pg_proc where pronamespace = $1::regnamespace
         and proname in ('note_action', 'cancel_run', 'resume_cron')
       union all select relname::text, 0 from pg_class where relnamespace = $1::regnamespace and relname = 'action'
       order by 1`,
      [schema],
    );
    expect(found).toEqual([
      { name: 'cancel_run', args: 5 },
      { name: 'resume_cron', args: 3 },
    ]);
  });

  it.each(['Fence"post', 'select', 'with spaces; drop', 'Größe'])(
    'takes %j as the name of a schema',
    async (schema) => {
      try {
        await migrateLedger(sandbox.pool, { schema });
        expect(await readCrons(schema)).toHaveLength(1);
      } finally {
        await rows(`drop schema if exists "${schema.replaceAll('"', '""')}" cascade`);
      }
    },
  );

  it.each(['', 'x'.repeat(64)])('refuses %j, which is no name of a schema', async (schema) => {
    await expect(migrateLedger(sandbox.pool, { schema })).rejects.toThrow(SetupError);
    expect(() => new PostgresLedgerAccess({ pool: sandbox.pool, prefix: 'p', tenant: 't', schema })).toThrow(
      SetupError,
    );
  });
});

describe('a ledger whose schema is not as it should be', () => {
  it('says what to do where nobody has migrated, and works once somebody has', async () => {
    const { schema, pool } = sandbox;
    const access = new PostgresLedgerAccess({ pool, prefix: 'test', tenant: 'default', schema });
    const read = () => access.call('read_crons', [access.space, ['a']]);
    await expect(read()).rejects.toThrow('Run "fencepost migrate" once before, or set "migrate: true"');
    await expect(read()).rejects.toThrow(SetupError);
    await migrateLedger(pool, { schema });
    expect(await read()).toHaveLength(1);
  });

  it('finds its tables whatever the search path is, and behind temporary ones of the same name', async () => {
    const { schema } = sandbox;
    await migrateLedger(sandbox.pool, { schema });
    const connection = await sandbox.pool.connect();
    try {
      await connection.query('create temporary table cron (space text, name text); set search_path to pg_temp');
      const access = new PostgresLedgerAccess({ pool: sandbox.pool, prefix: 'test', tenant: 'default', schema });
      const order = ['nonce', null, 'ada', 'migration'];
      const pause = await access.callOn(connection, 'pause_cron', [access.space, 'a', ...order]);
      expect(pause).toMatchObject({ until: null, by: 'ada' });
    } finally {
      connection.release(true);
    }
    expect(await rows(`select name from "${schema}".cron`)).toEqual([{ name: 'a' }]);
  });

  it.each(['a:b', '', 'a b'])('refuses %j as a tenant', (tenant) => {
    expect(() => new PostgresLedgerAccess({ pool: sandbox.pool, prefix: 'test', tenant })).toThrow(SetupError);
  });
});
