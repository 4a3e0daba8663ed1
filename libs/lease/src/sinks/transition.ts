import type { SqlClient } from '../postgres/sql-client.js';
import type { SqlFragment } from '../postgres/sql.js';
import { loadStatements, quoteIdentifier } from '../postgres/sql-statement.js';
import { READ, WRITE } from './sql-dialect.js';
import type { SqlClients, SqlDialect } from './sql-dialect.js';
import { TEXTS } from '../sql/texts.js';

export interface Transition<D extends SqlDialect = 'postgres'> {
  /** What the client speaks; default `postgres`. `mysql` is MariaDB's too. */
  readonly dialect?: D;
  /** Default `public` in PostgreSQL; elsewhere the client's own. */
  readonly schema?: string;
  readonly table: string;
  /** Of one row. */
  readonly id: string | number | bigint;
  readonly from: string;
  readonly to: string;
  /** As it was read. */
  readonly version: number;
  /**
   * Further columns that the winner sets in the same statement: `` sql`worker_id = ${me}, lease_until = now() + interval '1 minute'` ``.
   */
  readonly set?: SqlFragment;
  /** Default `id`, `status` and `version`; the last is a whole number. */
  readonly columns?: { readonly id?: string; readonly status?: string; readonly version?: string };
}

export interface RowState {
  readonly status: string;
  readonly version: number;
}

/** `found` is what the row has come to meanwhile, `null` when there is none. */
export type TransitionOutcome =
  { readonly won: true; readonly version: number } | { readonly won: false; readonly found: RowState | null };

const statements = loadStatements(TEXTS, ['move-state', 'move-row', 'find-row']);

/**
 * Moves a row from one status to another if it still is in the status and version that was read, and counts its version up:
 * of any number who try at once, one wins.
 *
 * It works on a pool and inside a transaction. In PostgreSQL it is one statement; under REPEATABLE READ and SERIALIZABLE a
 * loser may get error 40001 there instead of an answer. MySQL, MariaDB and SQLite say who lost in a second one, which finds
 * the row as it is by then; what was won was decided in the first. The version alone can't distinguish a lost reply from a lost race: if
 * that matters, let `set` say who moved it, and look.
 * @throws {SetupError} for a table or column that can't be a name
 */
export async function transition<D extends SqlDialect = 'postgres'>(
  client: SqlClients[D],
  asked: Transition<D>,
): Promise<TransitionOutcome> {
  const { dialect } = asked;
  if (dialect === undefined || dialect === 'postgres') return moveState(client as SqlClient, asked);
  return moveRow(client, { ...asked, dialect });
}

async function moveState(client: SqlClient, asked: Transition<SqlDialect>): Promise<TransitionOutcome> {
  const { schema = 'public', table, columns = {} } = asked;
  const { id = 'id', status = 'status', version = 'version' } = columns;
  const further = asked.set && `, ${asked.set.numbered(5)}`;
  const statement = statements['move-state'].about({ schema, table, id, status, version }, { set: further ?? '' });
  const values = asked.set?.values ?? [];
  const { rows } = await statement.run(client, asked.id, asked.from, asked.version, asked.to, ...values);
  const [row] = rows as MovedRow[];
  if (!row) return { won: false, found: null };
  if (row.won !== null) return { won: true, version: Number(row.won) };
  return { won: false, found: { status: row.status, version: Number(row.version) } };
}

interface MovedRow {
  readonly won: string | null;
  readonly status: string;
  readonly version: string;
}

/** MySQL's REPEATABLE READ would show a row as it was when the transaction began; a locking read shows it as it is. */
const LOCK = { mysql: ' LOCK IN SHARE MODE', sqlite: '', postgres: '' } as const;

async function moveRow<D extends SqlDialect>(
  client: SqlClients[D],
  asked: Transition<D> & { readonly dialect: D },
): Promise<TransitionOutcome> {
  const { dialect, schema, set, columns = {} } = asked;
  const { id = 'id', status = 'status', version = 'version' } = columns;
  const path = schema === undefined ? [asked.table] : [schema, asked.table];
  const table = path.map((name) => quoteIdentifier(name, '`')).join('.');
  const about = (name: 'move-row' | 'find-row') =>
    statements[name].about(
      { id, status, version },
      { table, set: set ? `${set.sql}, ` : '', lock: LOCK[dialect] },
      '`',
    );
  const values = [...(set?.values ?? []), asked.to, asked.id, asked.from, asked.version];
  const { rowCount } = await WRITE[dialect](client, about('move-row').with(...values));
  if (rowCount) return { won: true, version: asked.version + 1 };
  const row = (await READ[dialect](client, about('find-row').with(asked.id))) as FoundRow | undefined;
  return { won: false, found: row ? { status: row.status, version: Number(row.version) } : null };
}

interface FoundRow {
  readonly status: string;
  /** A number, or its text, as the client reads a BIGINT. */
  readonly version: unknown;
}
