import { parseFence } from '../base/fence.js';
import type { SqlQuery, SqlResult } from '../postgres/sql-client.js';
import type { FencedSql } from './fenced-sql.js';
import { READ, WRITE } from './sql-dialect.js';
import type { SqlClients, SqlDialect } from './sql-dialect.js';

export interface FencedStatements {
  /** With `fenced.condition` or `fenced.conflictCondition` in it; about one row. */
  readonly write: SqlQuery;
  /** A SELECT of `fenced.seen` about the same row. */
  readonly seen: SqlQuery;
}

/** `unmatched`: the row exists and no newer holder wrote it, so a further condition of your own didn't hold. */
export type FencedOutcome =
  | { readonly written: true; readonly result: SqlResult }
  | { readonly written: false; readonly because: 'missing' | 'unmatched' };

/**
 * Writes, and where no row was changed says why: it is refused, there is none, or the statement's own conditions failed.
 *
 * The row is looked at after the write, in a statement of its own. That is exact for what matters: the fence of a row never
 * decreases, so a larger one found there means that a newer holder acts, whether it was written before or just now.
 * @throws {StaleFenceError} when the row was written under a larger fence
 */
export async function runFenced<D extends SqlDialect>(
  client: SqlClients[D],
  fenced: FencedSql<D>,
  { write, seen }: FencedStatements,
): Promise<FencedOutcome> {
  const result = await WRITE[fenced.dialect](client, write);
  if ((result.rowCount ?? 0) > 0) return { written: true, result };
  const row = (await READ[fenced.dialect](client, seen)) as { readonly seen: string | null } | undefined;
  if (!row) return { written: false, because: 'missing' };
  if (row.seen !== null && parseFence(row.seen) > fenced.fence) {
    fenced.refuse(`the row was written under fence ${row.seen}`);
  }
  return { written: false, because: 'unmatched' };
}
