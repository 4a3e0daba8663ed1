import type { Finding } from '@fencepost/lease/internal/redis-checks';
import type { SqlClient } from '@fencepost/lease/postgres';

/** One thing a store can't promise, and which line to change. */
export interface DurabilityFinding extends Pick<Finding, 'danger' | 'message'> {
  /** What to write where; `null` where no single line mends it. */
  readonly line: string | null;
}

/** Settings of a PostgreSQL server by their names, as it has them for this connection. */
export type PostgresSettings = Readonly<Record<string, string>>;

const SWITCHES = ['fsync', 'synchronous_commit', 'full_page_writes'] as const;
const SETTINGS = [...SWITCHES, 'synchronous_standby_names'] as const;
/** The explicit word for standbys that may lack commits. PostgreSQL keeps a setting with a dot for whoever reads it. */
const WORD = 'fencepost.asynchronous_standby';
/** Which servers follow this one: a consumer of logical changes can't become the primary, and a base backup ends. */
const READ_STANDBYS =
  'SELECT count(*)::text AS standbys, current_setting($1, true) AS word FROM pg_stat_replication AS follower ' +
  "WHERE follower.state IS DISTINCT FROM 'backup' AND NOT EXISTS (SELECT FROM pg_replication_slots AS slot " +
  "WHERE slot.active_pid = follower.pid AND slot.slot_type = 'logical')";

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
 * without `full_page_writes`. With an asynchronous standby, a failover may lose commits; one that is away at the time of the
 * check is not seen.
 */
export function judgePostgres(settings: PostgresSettings): DurabilityFinding[] {
  const off = SWITCHES.filter((name) => settings[name] === 'off');
  return [...off.map(switchedOff), ...asynchronousStandby(settings)];
}

function switchedOff(name: (typeof SWITCHES)[number]): DurabilityFinding {
  return {
    danger: name === 'full_page_writes' ? 'warn' : 'refuse',
    message: `Expected ${name} on in PostgreSQL, found off: a crash of the server may lose what was committed.`,
    line: `"${name} = on" in postgresql.conf, and no other value for this role or database`,
  };
}

function asynchronousStandby(settings: PostgresSettings): DurabilityFinding[] {
  const { standbys = '0', synchronous_standby_names: names = '', synchronous_commit: commit } = settings;
  const isAwaited = names !== '' && commit !== 'local' && commit !== 'off';
  if (standbys === '0' || isAwaited || settings[WORD] === 'accepted') return [];
  const found = names === '' ? 'synchronous_standby_names is empty' : `synchronous_commit is ${commit}`;
  return [
    {
      danger: 'refuse',
      message:
        `Expected PostgreSQL to wait for one of its standbys (${standbys} connected), but ${found}: a failover may lose what was ` +
        'committed.',
      line:
        '"synchronous_standby_names = \'ANY 1 (*)\'" and "synchronous_commit = on" in postgresql.conf, or, to accept that loss, ' +
        `"ALTER DATABASE <name> SET ${WORD} = 'accepted'"`,
    },
  ];
}

/** For this connection: a role or a database may have values of its own. */
export async function readPostgresSettings(client: SqlClient): Promise<PostgresSettings> {
  const text = 'SELECT name, setting FROM pg_settings WHERE name = ANY($1)';
  const { rows } = await client.query({ text, values: [[...SETTINGS]] });
  const settings = (rows as { name: string; setting: string }[]).map(({ name, setting }) => [name, setting]);
  const standbys = await client.query({ text: READ_STANDBYS, values: [WORD] });
  const [found] = standbys.rows as { standbys: string; word: string | null }[];
  return { ...Object.fromEntries(settings), standbys: found?.standbys ?? '0', [WORD]: found?.word ?? '' };
}
