import { createHash } from 'node:crypto';
import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { FenceExhaustedError } from '../base/errors.js';
import { formatFence, parseFence, type Fence } from '../base/fence.js';
import { checkResourceName } from '../base/resource.js';
import type { Criticality, Finding } from '../store/finding.js';
import type { Term } from '../store/grant.js';
import { partOf, redisChannel } from '../store/keys.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import type { LeaseSessions } from '../store/lease-sessions.js';
import { checkRequest, checkWhole } from '../store/lease-request.js';
import { heldOf } from '../store/holdings-page.js';
import type {
  AcquireReply,
  AcquireRequest,
  Holding,
  HoldingsPage,
  LeaseStore,
  StopWatching,
} from '../store/lease-store.js';
import { isFenceExhausted, LeaseRows } from './lease-rows.js';
import { PostgresSessions } from './postgres-sessions.js';
import type { SqlClient, SqlPool } from './sql-client.js';
import { leaseTable, quotedTable } from './table.js';
import type { TableName } from './table.js';
import { watchPostgresChannel } from './watch-channel.js';

export interface PostgresLeaseStoreOptions extends TableName, Partial<KeySpace> {
  /** Default: the caller's own. */
  readonly kind?: LeaseKind;
  /**
   * A `Pool` of `pg`; stays the caller's to close. Give it a `connectionTimeoutMillis`, a `query_timeout` far below the ttl,
   * and a listener for its `error` event. Behind a pooler that hands out transactions watching hears nothing, because
   * listening needs a session; the rest works.
   */
  readonly client: SqlPool;
  /** For the pauses between two attempts to listen again; the leases go by the server's clock. */
  readonly clock?: Clock;
}

/** Each further try means that another holder took the resource between this statement's read and its lock. */
const MAX_READS = 10;

/**
 * Leases as rows of one PostgreSQL, in a table that {@link createLeaseTable} makes.
 *
 * Each call is one statement and a transaction of its own, so the client is a pool and never an open transaction: a
 * lease taken there is invisible until the commit. Under READ COMMITTED no statement fails because of another one;
 * where REPEATABLE READ or SERIALIZABLE is the default, one that does is sent again, which is safe because it is idempotent
 * on the nonce.
 *
 * Everything that a committed transaction survives, a lease survives: a restart, a failover to a synchronous standby. With
 * `synchronous_commit = off`, or a failover to an asynchronous one, acknowledged leases can be lost, and two may hold one
 * for a ttl; the fence still goes on, by the server's clock.
 */
export class PostgresLeaseStore implements LeaseStore {
  readonly sessions: LeaseSessions;
  readonly #client: SqlPool;
  readonly #clock: Clock;
  readonly #released: string;
  readonly #rows: LeaseRows;

  /** @throws {SetupError} for a prefix, tenant, schema or table that can't be one */
  constructor(options: PostgresLeaseStoreOptions) {
    const { client, clock = systemClock, prefix = 'fencepost', tenant = 'default', kind } = options;
    const names = leaseTable(options);
    const space = redisChannel({ prefix, tenant }, partOf(kind, 'lease'));
    this.#client = client;
    this.#clock = clock;
    this.#released = channelName(`${quotedTable(names)} ${space}`);
    this.#rows = new LeaseRows({ client, names, space });
    this.sessions = new PostgresSessions(this.#rows, this.#released);
  }

  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    const { nonce, holder, ttlMs, floor } = request;
    const resource = checkResourceName(request.resource);
    for (let looks = 0; looks < MAX_READS; looks += 1) {
      const [row] = await this.#acquire(resource, [nonce, holder, ttlMs.toFixed(0), formatFence(floor)]);
      if (row?.word === 'ACQUIRED') return { acquired: true, fence: parseFence(row.value) };
      if (row) return { acquired: false, remainingMs: Number(row.value) };
    }
    return { acquired: false, remainingMs: 0 };
  }

  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    return this.#each('renew-leases', terms, ttlMs.toFixed(0));
  }

  async release(terms: readonly Term[]): Promise<boolean[]> {
    return this.#each('release-leases', terms, this.#released);
  }

  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    const rows = await this.#rows.ask('inspect-leases', resources.map(checkResourceName));
    return (rows as HeldRow[]).map(holdingIn);
  }

  async evict(resource: string, fence: Fence): Promise<boolean> {
    const values = [checkResourceName(resource), formatFence(fence), this.#released];
    return (await this.#rows.ask('evict-lease', ...values)).length > 0;
  }

  async list(after: string | null, limit: number): Promise<HoldingsPage> {
    const rows = (await this.#rows.ask('list-leases', after ?? '', limit)) as (HeldRow & {
      readonly resource: string;
    })[];
    const names = rows.map(({ resource }) => resource);
    return { items: heldOf(names, rows.map(holdingIn)), next: rows.length < limit ? null : (names.at(-1) ?? null) };
  }

  /** @throws what the pool throws when it has no connection to give */
  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    return watchPostgresChannel({
      pool: this.#client,
      channel: this.#released,
      clock: this.#clock,
      onMessage: onReleased,
    });
  }

  async probe(criticality: Criticality): Promise<Finding[]> {
    return criticality === 'correctness' ? probePostgres(this.#client) : [];
  }

  async #acquire(resource: string, values: string[]): Promise<readonly AcquireRow[]> {
    try {
      return (await this.#rows.ask('acquire-lease', resource, ...values)) as AcquireRow[];
    } catch (error) {
      if (isFenceExhausted(error)) throw new FenceExhaustedError(resource);
      throw error;
    }
  }

  async #each(name: 'renew-leases' | 'release-leases', terms: readonly Term[], value: string): Promise<boolean[]> {
    if (terms.length === 0) return [];
    const resources = terms.map(({ resource }) => checkResourceName(resource));
    const rows = await this.#rows.ask(
      name,
      resources,
      terms.map(({ nonce }) => nonce),
      value,
    );
    return (rows as { readonly done: boolean }[]).map(({ done }) => done);
  }
}

interface AcquireRow {
  readonly word: 'ACQUIRED' | 'BUSY';
  readonly value: string;
}

interface HeldRow {
  readonly holder: string | null;
  readonly fence: string;
  readonly remaining: string;
  /** `null` for a term whose beginning isn't known. */
  readonly since: string | null;
}

function holdingIn({ holder, fence, remaining, since }: HeldRow): Holding | null {
  if (holder === null) return null;
  const known = since === null ? {} : { acquiredAt: Number(since) };
  return { holder, fence: parseFence(fence), remainingMs: Number(remaining), ...known };
}

/** A channel's name has at most 63 bytes; prefix and tenant may be longer. */
function channelName(of: string): string {
  return `fencepost_${createHash('sha256').update(of).digest('hex').slice(0, 32)}`;
}

const SETTINGS = ['fsync', 'synchronous_commit'] as const;

/**
 * What a PostgreSQL can't promise to leases: with either of these off a commit is acknowledged before it is on the disk.
 * @throws what the client throws when the server can't be asked
 */
async function probePostgres(client: SqlClient): Promise<Finding[]> {
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
