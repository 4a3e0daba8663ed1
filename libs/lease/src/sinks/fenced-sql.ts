import { SetupError } from '../base/errors.js';
import { formatFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { quoteIdentifier } from '../postgres/sql-statement.js';
import type { Quote } from '../postgres/sql-statement.js';
import { unobserved } from '../telemetry/lease-events.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import { refuseStale } from './refuse-stale.js';
import { SqlFragment, sql } from '../postgres/sql.js';
import { writtenRows } from './sql-dialect.js';
import type { SqlDialect, WriteResult } from './sql-dialect.js';

/** A lease or an attempt: a holder of a fence for a resource. */
export interface Fenced {
  readonly resource: string;
  readonly fence: Fence;
}

export interface FencedSqlOptions<D extends SqlDialect = 'postgres'> {
  /** What the client speaks; default `postgres`. `mysql` is MariaDB's too. */
  readonly dialect?: D;
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
export interface FencedSql<D extends SqlDialect = 'postgres'> extends Fenced {
  readonly dialect: D;
  /** The fence as a value: `INSERT INTO orders (…, fence) VALUES (…, ${f.value})`. */
  readonly value: string;
  /** `UPDATE orders SET …, ${f.set}` */
  readonly set: SqlFragment;
  /**
   * `WHERE id = … AND ${f.condition}`: no newer holder has written the row. An equal fence passes: the same term may write a
   * row twice, and repeats a write whose reply got lost.
   */
  readonly condition: SqlFragment;
  /**
   * `ON CONFLICT (…) DO UPDATE SET …, ${f.setExcluded}`: the fence that the INSERT brought.
   * @throws {SetupError} for MySQL, which has no such statement: `INSERT IGNORE`, then the fenced UPDATE
   */
  readonly setExcluded: SqlFragment;
  /**
   * `… DO UPDATE SET … WHERE ${f.conflictCondition}`. An INSERT that forgot the fence's column fails it.
   * @throws {SetupError} when `table` was not given: in this place the column's name alone is ambiguous; and for MySQL
   */
  readonly conflictCondition: SqlFragment;
  /** `SELECT ${f.seen} FROM orders WHERE id = …`: what `runFenced` asks. */
  readonly seen: SqlFragment;
  /**
   * The same as text, for the value `f.value` as `$place`.
   * @throws {SetupError} except for PostgreSQL: elsewhere use `f.set.sql` and `f.condition.sql`, each with `f.value`
   */
  numbered(place: number): NumberedFence;
  /**
   * What the database answered, unless it changed fewer rows than it should. A row that is gone counts as stale here; see
   * `runFenced` for telling these apart. A statement about several rows belongs into a transaction, so that the throw
   * takes back what it did to the others.
   * @param rows how many have to have been changed; default 1
   * @throws {StaleFenceError} after the event `fence.rejected`
   */
  check<R extends WriteResult>(result: R, rows?: number): R;
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
export function fencedSql<D extends SqlDialect = 'postgres'>(
  lease: Fenced,
  options: FencedSqlOptions<D>,
): FencedSql<D> {
  const { resource, fence } = lease;
  const { dialect = 'postgres' as D } = options;
  const { quote, cast, asText } = WORDS[dialect];
  const refuser = { downstream: options.downstream, observe: options.observe ?? unobserved };
  const value = formatFence(fence);
  const { column, mine } = columnOf(options, quote);
  return {
    resource,
    fence,
    dialect,
    value,
    set: sql`${text(`${column} = ${cast[0]}`)}${value}${text(cast[1])}`,
    condition: sql`${text(`(${mine} IS NULL OR ${mine} <= ${cast[0]}`)}${value}${text(`${cast[1]})`)}`,
    get setExcluded() {
      return onConflict(dialect, `${column} = EXCLUDED.${column}`);
    },
    get conflictCondition() {
      const condition = onConflict(dialect, `(${mine} IS NULL OR ${mine} <= EXCLUDED.${column})`);
      if (options.table === undefined) throw new SetupError(AMBIGUOUS);
      return condition;
    },
    seen: text(`${asText(mine)} AS seen`),
    numbered(place) {
      if (dialect !== 'postgres') throw new SetupError(NOT_NUMBERED);
      return { set: this.set.numbered(place), condition: this.condition.numbered(place) };
    },
    refuse: (detail) => refuseStale(refuser, { resource, fence, detail }),
    check(result, rows = 1) {
      const changed = writtenRows(result);
      if (changed >= rows) return result;
      return this.refuse(
        `${changed} of ${rows} rows took it; the others were written under a larger one, or aren't there`,
      );
    },
  };
}

/** As it is set, and as it is compared. */
function columnOf({ column: name = 'fence', table }: FencedSqlOptions<SqlDialect>, quote: Quote) {
  const column = quoteIdentifier(name, quote);
  return { column, mine: table === undefined ? column : `${quoteIdentifier(table, quote)}.${column}` };
}

/** How the dialects write a name, a fence that is sent as text, and one that is read as text. */
interface Words {
  readonly quote: Quote;
  /** Around a value. */
  readonly cast: readonly [before: string, after: string];
  readonly asText: (column: string) => string;
}

/** MySQL would compare a number with a text as floating-point numbers. SQLite knows these types by a part of their names. */
const MARKED: Words = {
  quote: '`',
  cast: ['CAST(', ' AS SIGNED INTEGER)'],
  asText: (column) => `CAST(${column} AS CHAR)`,
};

const WORDS: Readonly<Record<SqlDialect, Words>> = {
  postgres: { quote: '"', cast: ['', '::bigint'], asText: (column) => `${column}::text` },
  mysql: MARKED,
  sqlite: MARKED,
};

const NO_CONFLICT =
  'Expected no conflict clause in the dialect "mysql": ON DUPLICATE KEY UPDATE takes no condition. ' +
  'In one transaction, INSERT IGNORE the row without its values, then write them with a fenced UPDATE.';

const NOT_NUMBERED =
  'Expected values as "?" in this dialect, which numbers none: use set.sql and condition.sql, each with the value.';

const AMBIGUOUS =
  'Expected the option "table" of fencedSql for conflictCondition, the name or alias of the table in the statement, got nothing.';

function onConflict(dialect: SqlDialect, clause: string): SqlFragment {
  if (dialect === 'mysql') throw new SetupError(NO_CONFLICT);
  return text(clause);
}

function text(known: string): SqlFragment {
  return new SqlFragment([known], []);
}
