import { SetupError, systemClock, type Clock } from '@fencepost/lease';
import { redisKeys, redactUrl } from '@fencepost/lease/internal/redis';
import type { SqlPool } from '@fencepost/lease/postgres';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { OrderCutError, StoreError, UsageError } from '../exit.js';
import {
  BullmqRunQueue,
  CatalogView,
  CronCatalog,
  CronOperator,
  isStoreError,
  UnknownCronError,
  listTenants,
  openPostgresCatalog,
  PostgresAuditTrail,
  PostgresCatalog,
  PostgresLedger,
  readPostgresFacts,
  RedisAuditTrail,
  RedisCatalog,
  RedisJournal,
  RedisLedger,
  RedisPodRegistry,
  RedisShadowLog,
  RedisMembership,
  LiveRevisions,
  Mutes,
  Telemetry,
  openAlarmStore,
  RunOperator,
  type AuditTrail,
  type Catalog,
  type Ledger,
  type PostgresFacts,
  type RunQueue,
} from '../jobs.js';
import type { World } from '../world.js';
import { LazyCronLeases, type CronLeases } from './cron-leases.js';
import { servicesOf, type Services } from './services.js';
import { withPool } from './postgres-pool.js';
import { chooseTenant, cronsElsewhere, tenantsInRedis } from './redis-tenants.js';
import { storeAddress, type StoreAddress, type StoreFlags } from './store-options.js';

/** Opened when something is to be enqueued: whoever only looks leaves no trace in the queue's keys. */
class LazyRunQueue implements RunQueue {
  #opened: Promise<RunQueue & { close(): Promise<void> }> | null = null;

  constructor(private readonly open: () => Promise<RunQueue & { close(): Promise<void> }>) {}

  async enqueue(...[deliveries]: Parameters<RunQueue['enqueue']>): Promise<void> {
    await (await this.#queue()).enqueue(deliveries);
  }

  async holds(...[deliveries]: Parameters<RunQueue['holds']>): ReturnType<RunQueue['holds']> {
    return (await this.#queue()).holds(deliveries);
  }

  async close(): Promise<void> {
    const queue = await this.#opened?.catch(() => null);
    await queue?.close();
  }

  #queue(): Promise<RunQueue> {
    this.#opened ??= this.open();
    return this.#opened;
  }
}

/** One deployment's crons, and what can be done to them. */
export interface Store extends Services {
  readonly leaseStore: CronLeases;
  readonly prefix: string;
  readonly tenant: string;
  readonly catalog: Catalog;
  /** A copy of all crons, for whatever looks at them all. */
  readonly view: Pick<Catalog, 'read'>;
  readonly ledger: Ledger;
  readonly membership: RedisMembership;
  readonly journal: RedisJournal;
  readonly pods: RedisPodRegistry;
  readonly revisions: LiveRevisions;
  /** What pods in shadow mode have recorded. */
  readonly shadow: Pick<RedisShadowLog, 'read'>;
  readonly operator: CronOperator;
  readonly runs: RunOperator;
  readonly mutes: Mutes;
  readonly crons: CronCatalog;
  readonly clock: Clock;
  /** Where else there are crons, in a sentence; `null` when there are some here, or none anywhere. */
  readonly elsewhere: () => Promise<string | null>;
}

const COMMAND_TIMEOUT_MS = 5_000;

/**
 * Does `work` with an open store, which is closed again whatever becomes of it.
 * @throws {UsageError} for an address, prefix or tenant that is none
 * @throws {StoreError} when the store can't be reached, or stops answering meanwhile
 */
export async function withStore<Result>(
  flags: StoreFlags,
  world: World,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const address = storeAddress(flags, world);
  checkNames(address);
  const redis = await connect(address);
  try {
    const tell = (line: string) => world.err(`${line}\n`);
    const { database, prefix } = address;
    if (!database) {
      const tenant = await chooseTenant(() => tenantsInRedis(redis, prefix), address, tell);
      const space = { prefix, tenant, leases: address.leases };
      return await withParts({ redis, database: null, ...inRedis(redis, { ...address, tenant }) }, space, work);
    }
    return await withPool(database, async (pool) => {
      const place = { pool, schema: database.schema, prefix };
      const tenant = await chooseTenant(() => orUnmigrated(listTenants(place), []), address, tell);
      const space = { prefix, tenant, leases: address.leases };
      return withParts({ redis, database: place, ...(await inPostgres(redis, { ...place, tenant })) }, space, work);
    });
  } catch (error) {
    const isOrder = error instanceof OrderCutError;
    const reason = isOrder ? error.cause : error;
    if (!isStoreError(reason)) throw error;
    throw troubleWith(reason, address, isOrder);
  } finally {
    await closeRedis(redis);
  }
}

/** Which store it is, where that is, and what to do. The two clients name what went wrong, and neither itself. */
function troubleWith(error: Error, { redis, database }: StoreAddress, isOrder: boolean): StoreError {
  const isDatabase = database !== null && !/Command timed out|max retries|Stream isn't|ReplyError/i.test(String(error));
  const which = isDatabase
    ? `PostgreSQL at ${redactUrl(database.url)}`
    : `Redis at ${'url' in redis ? redactUrl(redis.url) : 'the given nodes'}`;
  const todo = isOrder
    ? 'The order may have taken effect: check that the server is reachable, and check the result before you repeat it.'
    : 'Check that the server is reachable, and repeat the command.';
  return new StoreError(`${which} stopped answering (${error.message.replace(/\.$/, '')}). ${todo}`, { cause: error });
}

interface Space {
  readonly prefix: string;
  readonly tenant: string;
}

interface Recorded {
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly audit: AuditTrail;
  /** Looks at the database, `null` where there is none. */
  readonly examine: (() => Promise<PostgresFacts>) | null;
}

function inRedis(
  redis: RedisClient,
  { prefix, tenant, waitReplicas: replicas }: Space & Pick<StoreAddress, 'waitReplicas'>,
): Recorded {
  const at = { redis, prefix, tenant };
  // Over the one connection there is: nothing here has to go on while an order waits.
  const replication = { redis, replicas, timeoutMs: COMMAND_TIMEOUT_MS / 2 };
  const ledger = new RedisLedger({ ...at, ...(replicas > 0 ? { replication } : {}) });
  return { ledger, catalog: new RedisCatalog(at), audit: new RedisAuditTrail(at), examine: null };
}

async function inPostgres(
  redis: RedisClient,
  place: Space & { readonly pool: SqlPool; readonly schema: string },
): Promise<Recorded> {
  const unmigrated = { catalog: new PostgresCatalog({ ...place, redis }) };
  const { catalog } = await orUnmigrated(openPostgresCatalog({ ...place, redis }), unmigrated);
  return {
    ledger: new PostgresLedger(place),
    catalog,
    audit: new PostgresAuditTrail(place),
    examine: () => readPostgresFacts(place.pool, place),
  };
}

/** Where the tables are missing, the command says so itself: `doctor` has more to say than that. */
async function orUnmigrated<T>(opening: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof SetupError) return otherwise;
    throw error;
  }
}

interface Connected {
  readonly redis: RedisClient;
  readonly database: { readonly pool: SqlPool; readonly schema: string } | null;
}

async function withParts<Result>(
  { redis, database, ledger, catalog, audit, examine }: Recorded & Connected,
  { leases: place, ...space }: Space & { readonly leases: string },
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const at = { redis, ...space };
  const routed = { ...at, catalog, ledger, telemetry: new Telemetry(), onTrouble: () => {} };
  const queue = new LazyRunQueue(() => BullmqRunQueue.openRouted(routed));
  const membership = new RedisMembership(at);
  const [journal, pods] = [new RedisJournal(at), new RedisPodRegistry(at)];
  const revisions = new LiveRevisions({ pods, revisions: catalog.revisions, clock: systemClock });
  const leaseStore = new LazyCronLeases({ ...at, place, database, pods });
  const ports = { catalog, ledger, membership, clock: systemClock };
  const view = new CatalogView(catalog, systemClock);
  try {
    const reads = { catalog: view, ledger };
    const operator = new CronOperator({ ...ports, queue, reads });
    const runs = new RunOperator({ ...ports, queue, reads });
    const seen = { ...ports, view, journal, pods, revisions, operator, runs, shadow: new RedisShadowLog(at) };
    const known = { ...at, ...seen, leaseStore, leasesBesidePods: place === 'redis', audit, examine };
    const services = servicesOf(known);
    const elsewhere = () => elsewhereThan({ redis, catalog }, space);
    const mutes = new Mutes(openAlarmStore(redis, database, { ...space, postgres: database ?? undefined }));
    const store = {
      ...space,
      ...seen,
      mutes,
      ...services,
      leaseStore,
      crons: new CronCatalog({ ...ports, pods }),
      elsewhere,
    };
    return await work(store).catch((error: unknown) => withPlaces(error, elsewhere));
  } finally {
    view.close();
    await Promise.all([queue.close(), leaseStore.close()]);
  }
}

async function elsewhereThan(
  { redis, catalog }: Pick<Recorded, 'catalog'> & { readonly redis: RedisClient },
  space: Space,
): Promise<string | null> {
  const first = await catalog.since(null, null, 1);
  return !first || first.entries.length > 0 || first.next !== null ? null : cronsElsewhere(redis, space);
}

/** A cron that is unknown where there are none at all may be under another prefix. */
async function withPlaces(error: unknown, elsewhere: Store['elsewhere']): Promise<never> {
  if (!(error instanceof UnknownCronError)) throw error;
  const places = await elsewhere();
  throw places === null ? error : new UsageError(`${error.message} ${places}`, { cause: error });
}

/** As `withStore`, for what looks at crons: where there are none, stderr says under which names there are. */
export async function withCrons<Result>(
  flags: StoreFlags,
  world: World,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return withStore(flags, world, async (store) => {
    const result = await work(store);
    const places = await store.elsewhere();
    if (places !== null) world.err(`${places}\n`);
    return result;
  });
}

async function connect({ redis }: StoreAddress): Promise<RedisClient> {
  try {
    return await connectRedis({ ...redis, commandTimeoutMs: COMMAND_TIMEOUT_MS, name: 'fencepost-cli' });
  } catch (error) {
    throw new StoreError(error instanceof Error ? error.message : String(error));
  }
}

/** Before anything is dialled: a name that is wrong is not the store's fault. */
function checkNames({ prefix, tenant }: StoreAddress): void {
  try {
    redisKeys({ prefix, tenant: tenant ?? 'default' });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
