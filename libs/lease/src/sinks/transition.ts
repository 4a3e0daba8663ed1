import type { SqlClient } from '../postgres/sql-client.js';
import type { SqlFragment } from '../postgres/sql.js';
import { loadStatements } from '../postgres/sql-statement.js';

export interface Transition {
  /** Default `public`. */
  readonly schema?: string;
  readonly table: string;
  /** Of one row. */
  readonly id: string | number | bigint;
  readonly from: string;
  readonly to: string;
  /** As it was read. */
  readonly version: number;
  /** Default `id`, `status` and `version`; the last is a whole number. */
  /**
   * Further columns that the winner sets in the same statement: `` sql`worker_id = ${me}, lease_until = now() + interval '1 minute'` ``.
   */
  readonly set?: SqlFragment;
  readonly columns?: { readonly id?: string; readonly status?: string; readonly version?: string };
}

export interface RowState {
  readonly status: string;
  readonly version: number;
}

/** `found` is what the row has come to meanwhile, `null` when there is none. */
export type TransitionOutcome =
  { readonly won: true; readonly version: number } | { readonly won: false; readonly found: RowState | null };

const statements = loadStatements(new URL('../sql/', import.meta.url), ['move-state']);

/**
 * Moves a row from one status to another if it still is in the status and version that was read, and counts its version up:
 * of any number who try at once, one wins.
 *
 * One statement, so it works on a pool and inside a transaction; under REPEATABLE READ and SERIALIZABLE a loser may
 * get PostgreSQL's error 40001 instead of an answer. The version alone can't distinguish a lost reply from a lost race: if
 * that matters, let `set` say who moved it, and look.
 * @throws {SetupError} for a table or column that can't be a name
 */
export async function transition(client: SqlClient, asked: Transition): Promise<TransitionOutcome> {
  const { schema = 'public', table, columns = {} } = asked;
  const { id = 'id', status = 'status', version = 'version' } = columns;
  const further = asked.set && `, ${asked.set.numbered(5)}`;
  const statement = statements['move-state'].about({ schema, table, id, status, version }, further);
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
