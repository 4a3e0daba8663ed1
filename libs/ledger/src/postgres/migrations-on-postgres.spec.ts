import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { PostgresLedgerAccess } from './postgres-ledger-access.js';
import { migrateLedger, planMigration } from './postgres-migrations.js';
import { LEDGER_VERSION, MIGRATIONS, checkLedgerVersion, functionOf } from './postgres-ledger-version.js';
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

/** A later version, which admits builds from `minimum` on. */
function outgrow(schema: string, { minimum }: { readonly minimum: number }): Promise<unknown> {
  return rows(`insert into "${schema}".ledger_version (version, minimum) values (${LEDGER_VERSION + 1}, ${minimum})`);
}

/** The names of the functions in a schema, without what tells builds apart. */
async function functions(schema: string, ofBuild: string): Promise<unknown[]> {
  return rows(
    `select proname::text as name from pg_proc where pronamespace = $1::regnamespace and right(proname, $2) = $3 order by 1`,
    [schema, ofBuild.length, ofBuild],
  );
}

/** What a build of that version has, as far as anybody can tell. */
function otherBuild(schema: string, version: number): Promise<unknown> {
  return rows(
    `create function "${schema}".now_ms_v${version}_00000000() returns bigint language sql as 'select 1::bigint'`,
  );
}

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
    const made = await rows(`select version, minimum from "${schema}".ledger_version order by version`);
    expect(made).toEqual(MIGRATIONS.map(({ version, minimum }) => ({ version, minimum })));
    expect(await readCrons(schema)).toMatchObject([{ cursor: null, refusals: 0 }]);
  });

  it('installs the functions of this build beside those of another one', async () => {
    const { schema } = sandbox;
    await migrateLedger(sandbox.pool, { schema });
    await otherBuild(schema, LEDGER_VERSION);
    const own = functionOf('now_ms');
    await rows(`drop function "${schema}"."${own}"`);
    await expect(checkLedgerVersion(sandbox.pool, schema)).rejects.toThrow('without its functions');
    expect(await migrateLedger(sandbox.pool, { schema })).toEqual(NOW);
    await checkLedgerVersion(sandbox.pool, schema);
    expect(await functions(schema, '_00000000')).toHaveLength(1);
  });

  it('drops the functions of builds that the tables no longer admit, and no others', async () => {
    const { schema } = sandbox;
    await migrateLedger(sandbox.pool, { schema });
    const { minimum } = await planMigration(sandbox.pool, { schema });
    await Promise.all([minimum - 1, minimum].map((version) => otherBuild(schema, version)));
    await rows(`drop function "${schema}"."${functionOf('now_ms')}"`);
    await migrateLedger(sandbox.pool, { schema });
    expect(await functions(schema, '_00000000')).toEqual([{ name: `now_ms_v${minimum}_00000000` }]);
  });

  it('refuses a schema that a newer release has contracted, and leaves it alone', async () => {
    const { schema } = sandbox;
    await migrateLedger(sandbox.pool, { schema });
    await outgrow(schema, { minimum: LEDGER_VERSION + 1 });
    const before = await everything(schema);
    const refusal = migrateLedger(sandbox.pool, { schema });
    await expect(refusal).rejects.toThrow(SetupError);
    await expect(refusal).rejects.toThrow(`found version ${LEDGER_VERSION + 1}`);
    await expect(refusal).rejects.toThrow('Update @fencepost/jobs');
    expect(await everything(schema)).toEqual(before);
  });

  it('leaves the tables alone that a newer release has expanded, and works with them', async () => {
    const { schema } = sandbox;
    await migrateLedger(sandbox.pool, { schema });
    await outgrow(schema, { minimum: LEDGER_VERSION });
    const before = await everything(schema);
    const to = LEDGER_VERSION + 1;
    expect(await migrateLedger(sandbox.pool, { schema })).toEqual({ from: to, to });
    expect(await everything(schema)).toEqual(before);
    expect(await readCrons(schema)).toHaveLength(1);
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

describe('each migration', () => {
  const later = MIGRATIONS.filter(({ locks }) => locks !== null);

  it('keeps the builds of the version before at work, from version 8 on', () => {
    const since = MIGRATIONS.filter(({ version }) => version > 7);
    expect(since.filter(({ version, minimum }) => minimum >= version)).toEqual([]);
  });

  it.each(later)('takes the locks that it names: $name', async ({ version, text, locks }) => {
    const { schema } = sandbox;
    await migrateLedger(sandbox.pool, { schema });
    for (let at = LEDGER_VERSION; at >= version && MIGRATIONS.at(at - 1)?.down; at--) {
      await migrateLedger(sandbox.pool, { schema, down: true });
    }
    const taken = await locksOf(
      schema,
      version > 7 ? text : 'alter table ledger_version alter column minimum set not null',
    );
    expect(locks).toMatch(new RegExp(`^${taken.join('; ')},`));
  });
});

/** Beyond those that queries and writes take; in a transaction that comes to nothing. */
async function locksOf(schema: string, text: string): Promise<string[]> {
  const connection = await sandbox.pool.connect();
  try {
    await connection.query(`begin; set local search_path to "${schema}"; ${text}`);
    const { rows: found } = await connection.query<{ lock: string }>(
      `select relname || ': ' || upper(regexp_replace(replace(mode, 'Lock', ''), '([a-z])([A-Z])', '\\1 \\2', 'g')) as lock
       from pg_locks join pg_class on pg_class.oid = relation
       where pid = pg_backend_pid() and relnamespace = $1::regnamespace and relkind = 'r'
         and mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock') order by 1`,
      [schema],
    );
    return found.map(({ lock }) => lock);
  } finally {
    connection.release(true);
  }
}

describe('planMigration', () => {
  it('names each step of a schema that is new, and none once it is there', async () => {
    const { schema, pool } = sandbox;
    const plan = await planMigration(pool, { schema });
    expect(plan).toMatchObject({ from: 0, to: LEDGER_VERSION, functions: true });
    expect(plan.steps.map(({ version }) => version)).toEqual(MIGRATIONS.map(({ version }) => version));
    expect(plan.refusal).toMatch(/found none\. Run "fencepost migrate"/);
    expect(await rows('select from pg_namespace where nspname = $1', [schema])).toEqual([]);
    await migrateLedger(pool, { schema });
    const after = await planMigration(pool, { schema });
    expect(after).toEqual({ ...NOW, minimum: plan.minimum, steps: [], functions: false, refusal: null });
  });

  it('has nothing to do with tables of a newer release, and says which of them refuse this build', async () => {
    const { schema, pool } = sandbox;
    await migrateLedger(pool, { schema });
    await outgrow(schema, { minimum: LEDGER_VERSION });
    expect(await planMigration(pool, { schema })).toMatchObject({ to: LEDGER_VERSION + 1, steps: [], refusal: null });
    await rows(
      `update "${schema}".ledger_version set minimum = ${LEDGER_VERSION + 1} where version > ${LEDGER_VERSION}`,
    );
    expect((await planMigration(pool, { schema })).refusal).toMatch(/admits them from \d+ on: a newer release/);
  });
});

describe('going back by one version', () => {
  /** The tables and their indexes, as the catalog of PostgreSQL has them. */
  const layout = (schema: string) => rows(`select indexdef from pg_indexes where schemaname = $1 order by 1`, [schema]);

  it('undoes what loses nothing, down to where builds were told apart, and comes forward again', async () => {
    const { schema, pool } = sandbox;
    await migrateLedger(pool, { schema });
    const before = await layout(schema);
    for (let from = LEDGER_VERSION; from > 7; from--) {
      expect(await migrateLedger(pool, { schema, down: true })).toEqual({ from, to: from - 1 });
      await expect(checkLedgerVersion(pool, schema)).rejects.toThrow(`found version ${from - 1}.`);
    }
    expect(await layout(schema)).not.toEqual(before);
    await expect(migrateLedger(pool, { schema, down: true })).rejects.toThrow("can't be undone without losing data");
    expect(await migrateLedger(pool, { schema })).toEqual({ from: 7, to: LEDGER_VERSION });
    expect(await layout(schema)).toEqual(before);
    expect(await readCrons(schema)).toHaveLength(1);
  });

  it('refuses where there is nothing, and leaves no schema behind', async () => {
    const { schema, pool } = sandbox;
    await expect(migrateLedger(pool, { schema, down: true })).rejects.toThrow('there are none');
    expect(await rows('select from pg_namespace where nspname = $1', [schema])).toEqual([]);
  });

  it('leaves to a newer release what that one made', async () => {
    const { schema, pool } = sandbox;
    await migrateLedger(pool, { schema });
    await outgrow(schema, { minimum: LEDGER_VERSION });
    await expect(migrateLedger(pool, { schema, down: true })).rejects.toThrow(
      'only the release that made it can undo it',
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
