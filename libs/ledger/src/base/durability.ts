import type { Finding } from '@fencepost/lease/internal/redis-checks';
import type { SqlClient } from '@fencepost/lease/postgres';

/** One thing a store can't promise, and which line to change. */
export interface DurabilityFinding extends Pick<Finding, 'danger' | 'message'> {
  /** What to write where; `null` where no single line mends it. */
  readonly line: string | null;
}

/** Settings of a PostgreSQL server by their names, as it has them for this connection. */
export type PostgresSettings = Readonly<Record<string, string>>;

const SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes'] as const;

/** The line that mends a finding of `probeRedis`. */
const REDIS_LINES: Readonly<Partial<Record<Finding['code'], string>>> = {
  NO_PERSISTENCE: '"appendonly yes" in redis.conf',
  NO_APPEND_ONLY_FILE: '"appendonly yes" in redis.conf',
  APPEND_FSYNC: '"appendfsync always" in redis.conf, or "waitReplicas: 1" in the options of JobsModule',
  EVICTION: '"maxmemory-policy noeviction" in redis.conf',
  ASYNC_REPLICATION: '"waitReplicas: 1" in the options of JobsModule',
};

export function judgeRedis(findings: readonly Finding[]): DurabilityFinding[] {
  return findings.map(({ code, danger, message }) => ({ danger, message, line: REDIS_LINES[code] ?? null }));
}

/**
 * What the settings of a PostgreSQL server can't promise: without `fsync` or with `synchronous_commit = off` a commit is
 * acknowledged before it is on the disk (PostgreSQL's manual, "Write Ahead Log"), and half-written pages can't be mended
 * without `full_page_writes`. Whether a standby has what was committed is not asked.
 */
export function judgePostgres(settings: PostgresSettings): DurabilityFinding[] {
  const off = SETTINGS.filter((name) => settings[name] === 'off');
  return off.map((name) => ({
    danger: name === 'full_page_writes' ? 'warn' : 'refuse',
    message: `Expected ${name} on in PostgreSQL, found off: a crash of the server may lose what was committed.`,
    line: `"${name} = on" in postgresql.conf, and no other value for this role or database`,
  }));
}

/** For this connection: a role or a database may have values of its own. */
export async function readPostgresSettings(client: SqlClient): Promise<PostgresSettings> {
  const text = 'SELECT name, setting FROM pg_settings WHERE name = ANY($1)';
  const { rows } = await client.query({ text, values: [[...SETTINGS]] });
  return Object.fromEntries((rows as { name: string; setting: string }[]).map(({ name, setting }) => [name, setting]));
}
