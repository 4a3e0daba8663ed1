import { SetupError } from '../base/errors.js';
import { quoteIdentifier, loadStatements } from './sql-statement.js';
import type { SqlClient } from './sql-client.js';
import type { Names, SqlStatement } from './sql-statement.js';
import { TEXTS } from '../sql/texts.js';

/** Where a table is. */
export interface TableName {
  /** Default `fencepost`. */
  readonly schema?: string;
  readonly table?: string;
}

const statements = loadStatements(TEXTS, ['create-lease-table', 'create-fence-table', 'describe-table']);

export function leaseTable({ schema = 'fencepost', table = 'leases' }: TableName): Names {
  return { schema, table };
}

export function fenceTable({ schema = 'fencepost', table = 'fences' }: TableName): Names {
  return { schema, table };
}

/** As in a statement: `"fencepost"."leases"`. */
export function quotedTable({ schema = '', table = '' }: Names): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
}

/**
 * Makes the table of a `PostgresLeaseStore` unless it is there; to be called by every process at its start, also by many
 * at once. A role that may not create needs nothing but USAGE on the schema where another role created the table, with
 * `sql/create-lease-table.sql` of this package.
 * @param client sends a text without values as one simple query, as `pg` does
 * @throws {SetupError} when something else has the table's name, or a newer release of this library made it
 */
export function createLeaseTable(client: SqlClient, name: TableName = {}): Promise<void> {
  return ensureTable(client, leaseTable(name), {
    statement: statements['create-lease-table'],
    mark: 'fencepost leases v1',
  });
}

/**
 * Makes the table of a `PostgresFenceGate` unless it is there; otherwise like {@link createLeaseTable}.
 * @throws {SetupError} when something else has the table's name, or a newer release of this library made it
 */
export function createFenceTable(client: SqlClient, name: TableName = {}): Promise<void> {
  return ensureTable(client, fenceTable(name), {
    statement: statements['create-fence-table'],
    mark: 'fencepost fences v1',
  });
}

/** What creates a table, and the comment it puts on it. */
interface Recipe {
  readonly statement: SqlStatement;
  readonly mark: string;
}

/** Looks first: IF NOT EXISTS asks for the right to create even where there is nothing to do. */
async function ensureTable(client: SqlClient, names: Names, { statement, mark }: Recipe): Promise<void> {
  const { rows } = await statements['describe-table'].about({}).run(client, quotedTable(names));
  const { there, comment } = rows[0] as { there: boolean; comment: string | null };
  if (!there) await client.query({ text: statement.about(names).text });
  else if (comment !== mark) {
    throw new SetupError(
      `Expected the table ${quotedTable(names)} to have the comment ${JSON.stringify(mark)}, got ${JSON.stringify(comment)}. ` +
        `It belongs to another program or release of this library: choose another schema or table, or install that release.`,
    );
  }
}
