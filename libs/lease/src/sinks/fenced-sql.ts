import { SetupError } from '../base/errors.js';
import { formatFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { quoteIdentifier } from '../postgres/sql-statement.js';
import { unobserved } from '../telemetry/lease-events.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import { refuseStale } from './refuse-stale.js';
import { SqlFragment, sql } from '../postgres/sql.js';

/** A lease or an attempt: a holder of a fence for a resource. */
export interface Fenced {
  readonly resource: string;
  readonly fence: Fence;
}

export interface FencedSqlOptions {
  /** The `bigint` column that remembers the largest fence a row was written under; default `fence`. */
  readonly column?: string;
  /** The table's name or alias as in the statement, without its schema. An INSERT … ON CONFLICT needs it. */
  readonly table?: string;
  /** What metrics call the table. */
  readonly downstream: string;
  readonly observe?: LeaseObserver;
}

/** For statements whose values are numbered by hand. */
export interface NumberedFence {
  readonly set: string;
  readonly condition: string;
}

/** The fence of one lease, in the shapes that one's own statements need. */
export interface FencedSql extends Fenced {
  /** The fence as a value: `INSERT INTO orders (…, fence) VALUES (…, ${f.value})`. */
  readonly value: string;
  /** `UPDATE orders SET …, ${f.set}` */
  readonly set: SqlFragment;
  /**
   * `WHERE id = … AND ${f.condition}`: no newer holder has written the row. An equal fence passes: the same term may write a
   * row twice, and repeats a write whose reply got lost.
   */
  readonly condition: SqlFragment;
  /** `ON CONFLICT (…) DO UPDATE SET …, ${f.setExcluded}`: the fence that the INSERT brought. */
  readonly setExcluded: SqlFragment;
  /**
   * `… DO UPDATE SET … WHERE ${f.conflictCondition}`. An INSERT that forgot the fence's column fails it.
   * @throws {SetupError} when `table` was not given: in this place the column's name alone is ambiguous
   */
  readonly conflictCondition: SqlFragment;
  /** `SELECT ${f.seen} FROM orders WHERE id = …`: what `runFenced` asks. */
  readonly seen: SqlFragment;
  /** The same as text, for the value `f.value` as `$place`. */
  numbered(place: number): NumberedFence;
  /**
   * What the database answered, unless it changed fewer rows than it should. A row that is gone counts as stale here; see
   * `runFenced` for telling these apart. A statement about several rows belongs into a transaction, so that the throw
   * takes back what it did to the others.
   * @param rows how many have to have been changed; default 1
   * @throws {StaleFenceError} after the event `fence.rejected`
   */
  check<R extends { readonly rowCount: number | null }>(result: R, rows?: number): R;
  /** @throws {StaleFenceError} always, after the event `fence.rejected` */
  refuse(detail: string): never;
}

/**
 * Fences one's own statements: the row remembers the largest fence that wrote it and refuses smaller ones, so that a holder
 * which was paused and wakes up after its successor has written changes nothing (Kleppmann, "How to do distributed
 * locking", 2016). The comparison happens in the database, in the statement that writes: a check before it would be old.
 *
 * ```ts
 * const f = fencedSql(lease, { downstream: 'orders' });
 * f.check(await pool.query(sql`UPDATE orders SET state = ${state}, ${f.set} WHERE id = ${id} AND ${f.condition}`));
 * ```
 *
 * What it can't do: a row that isn't there remembers nothing, so a stale holder can insert one that its successor has
 * deleted. Mark rows as deleted instead, or let a `PostgresFenceGate` decide in the same transaction.
 * @throws {SetupError} for a column or table that can't be a name
 */
export function fencedSql(lease: Fenced, options: FencedSqlOptions): FencedSql {
  const { resource, fence } = lease;
  const refuser = { downstream: options.downstream, observe: options.observe ?? unobserved };
  const value = formatFence(fence);
  const column = quoteIdentifier(options.column ?? 'fence');
  const table = options.table === undefined ? undefined : quoteIdentifier(options.table);
  const mine = table === undefined ? column : `${table}.${column}`;
  return {
    resource,
    fence,
    value,
    set: sql`${text(`${column} = `)}${value}::bigint`,
    condition: sql`${text(`(${mine} IS NULL OR ${mine} <= `)}${value}::bigint)`,
    setExcluded: text(`${column} = EXCLUDED.${column}`),
    get conflictCondition() {
      if (table === undefined) throw new SetupError(AMBIGUOUS);
      return text(`(${mine} IS NULL OR ${mine} <= EXCLUDED.${column})`);
    },
    seen: text(`${mine}::text AS seen`),
    numbered: (place) => ({
      set: `${column} = $${place}::bigint`,
      condition: `(${mine} IS NULL OR ${mine} <= $${place}::bigint)`,
    }),
    refuse: (detail) => refuseStale(refuser, { resource, fence, detail }),
    check(result, rows = 1) {
      const changed = result.rowCount ?? 0;
      if (changed >= rows) return result;
      return this.refuse(
        `${changed} of ${rows} rows took it; the others were written under a larger one, or aren't there`,
      );
    },
  };
}

const AMBIGUOUS =
  'Expected the option "table" of fencedSql for conflictCondition, the name or alias of the table in the statement, got nothing.';

function text(known: string): SqlFragment {
  return new SqlFragment([known], []);
}
