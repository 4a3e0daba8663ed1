import { systemClock, type LeaseStore } from '@fencepost/lease';
import { openLeaseStore, type OwnedLeaseStore } from '@fencepost/lease/internal/place';
import { shownAddresses, type KeySpace } from '@fencepost/lease/internal/redis';
import { PostgresLeaseStore, type SqlPool } from '@fencepost/lease/postgres';
import { RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import { UsageError } from '../exit.js';
import type { RedisPodRegistry } from '../jobs.js';

export interface CronLeasesPorts extends KeySpace {
  /** As `leases` of JobsModule has it: `redis`, `postgres`, or a system and its addresses. */
  readonly place: string;
  readonly redis: RedisClient;
  /** Where the ledger is, when that is PostgreSQL. */
  readonly database: { readonly pool: SqlPool; readonly schema: string } | null;
  readonly pods: Pick<RedisPodRegistry, 'list'>;
}

/** What a process needs that acquires none. */
export type CronLeases = Required<Pick<LeaseStore, 'inspect' | 'evict'>>;

const TTL_MS = 10_000;
/** What it is on is somebody else's to close. */
const keep = async () => {};

/**
 * The leases of crons where the pods keep them. Opened by the first question about one: what is asked or ordered beside them works
 * while that store is away.
 */
export class LazyCronLeases implements CronLeases {
  #opened: Promise<OwnedLeaseStore> | undefined;

  constructor(private readonly ports: CronLeasesPorts) {}

  /** @throws {UsageError} where the pods keep them somewhere else: nobody would seem to hold anything */
  inspect: CronLeases['inspect'] = async (resources) => (await this.#store()).inspect(resources);

  /** @throws {UsageError} as {@link inspect}, and for a store that can't do it */
  evict: CronLeases['evict'] = async (resource, fence) => {
    const store = await this.#store();
    if (!store.evict) throw new UsageError(`A lease in ${this.#shown} can not be cleared: wait for its ttl.`);
    return store.evict(resource, fence);
  };

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.close();
  }

  get #shown(): string {
    return shownAddresses(this.ports.place);
  }

  async #store(): Promise<LeaseStore> {
    this.#opened ??= this.#open();
    return (await this.#opened).store;
  }

  async #open(): Promise<OwnedLeaseStore> {
    await this.#checkPods();
    const { place, redis, database, prefix, tenant } = this.ports;
    const space = { prefix, tenant, kind: 'cron' } as const;
    if (place === 'redis') return { store: new RedisLeaseStore({ redis, ...space }), close: keep };
    if (place !== 'postgres')
      return openLeaseStore(place, { ...space, ttlMs: TTL_MS, clock: systemClock, observe: () => {} });
    if (!database)
      throw new UsageError('Expected --postgres beside --leases postgres: it is the database of the ledger.');
    return { store: new PostgresLeaseStore({ ...space, client: database.pool, schema: database.schema }), close: keep };
  }

  async #checkPods(): Promise<void> {
    const schedulers = (await this.ports.pods.list()).filter(({ roles }) => roles.includes('scheduler'));
    const places = new Set(schedulers.map(({ leases = 'redis' }) => leases));
    if (places.size === 0 || places.has(this.#shown)) return;
    throw new UsageError(
      `Expected --leases (or FENCEPOST_LEASES) to be where the scheduler pods keep the leases of crons, ${[...places].join(' or ')}; ` +
        `got ${this.#shown}. A store that only the pods can open is asked over a console: --url.`,
    );
  }
}
