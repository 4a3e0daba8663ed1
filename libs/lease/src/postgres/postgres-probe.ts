import type { Finding } from '../store/finding.js';
import type { SqlClient } from './sql-client.js';

const SETTINGS = ['fsync', 'synchronous_commit'] as const;

/**
 * What a PostgreSQL can't promise to leases: with either of these off a commit is acknowledged before it is on the disk.
 * @throws what the client throws when the server can't be asked
 */
export async function probePostgres(client: SqlClient): Promise<Finding[]> {
  const text = `SELECT name FROM pg_settings WHERE name = ANY($1) AND setting = 'off'`;
  const { rows } = await client.query({ text, values: [[...SETTINGS]] });
  return (rows as { readonly name: string }[]).map(({ name }) => ({
    code: 'COMMIT_NOT_DURABLE',
    danger: 'refuse',
    message:
      `Expected ${name} on in PostgreSQL, found off: a crash of the server loses leases that it had acknowledged. Write ` +
      `"${name} = on" in postgresql.conf, and no other value for this role or database.`,
  }));
}
