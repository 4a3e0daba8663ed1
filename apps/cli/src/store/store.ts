import {
  closeRedis,
  connectRedis,
  redisKeys,
  SetupError,
  systemClock,
  type Clock,
  type RedisClient,
  type SqlPool,
} from '@fencepost/lease';
import { StoreError, UsageError } from '../exit.js';
import {
  BullmqRunQueue,
  CronCatalog,
  CronOperator,
  isStoreTrouble,
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
  RedisPresence,
  RunOperator,
  type AuditTrail,
  type Catalog,
  type Ledger,
  type PostgresFacts,
} from '../jobs.js';
import type { World } from '../world.js';
import { desksOf, type Desks } from './desks.js';
import { LazyRunQueue } from './lazy-run-queue.js';
import { withPool } from './postgres-pool.js';
import { questionsOf, type Questions } from './questions.js';
import { chooseTenant, tenantsInRedis } from './redis-tenants.js';
import { storeAddress, type StoreAddress, type StoreFlags } from './store-options.js';

/** One deployment's crons, and what can be done to them. */
export interface Store extends Questions, Desks {
  readonly prefix: string;
  readonly tenant: string;
  readonly catalog: Catalog;
  readonly ledger: Ledger;
  readonly presence: RedisPresence;
  readonly journal: RedisJournal;
  readonly pods: RedisPodRegistry;
  readonly operator: CronOperator;
  readonly runs: RunOperator;
  readonly crons: CronCatalog;
  readonly clock: Clock;
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
      return await withParts({ redis, ...inRedis(redis, { ...address, tenant }) }, { prefix, tenant }, work);
    }
    return await withPool(database, async (pool) => {
      const place = { pool, schema: database.schema, prefix };
      const tenant = await chooseTenant(() => orUnmigrated(listTenants(place), []), address, tell);
      return withParts({ redis, ...(await inPostgres(redis, { ...place, tenant })) }, { prefix, tenant }, work);
    });
  } catch (error) {
    if (!isStoreTrouble(error)) throw error;
    throw new StoreError(
      `The store stopped answering: ${error.message}. What was asked may have happened; look before you repeat it.`,
    );
  } finally {
    await closeRedis(redis);
  }
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

async function withParts<Result>(
  { redis, ledger, catalog, audit, examine }: Recorded & { readonly redis: RedisClient },
  space: Space,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const at = { redis, ...space };
  const queue = new LazyRunQueue(() => BullmqRunQueue.open({ ...at, onTrouble: () => {} }));
  const presence = new RedisPresence(at);
  const [journal, pods] = [new RedisJournal(at), new RedisPodRegistry(at)];
  const ports = { catalog, ledger, presence, clock: systemClock };
  try {
    const operator = new CronOperator({ ...ports, queue });
    const runs = new RunOperator({ ...ports, queue });
    const seen = { ...ports, journal, pods, operator, runs };
    const known = { ...at, ...seen, audit, examine };
    const [desks, questions] = [desksOf(known), questionsOf(known)];
    return await work({ ...space, ...seen, ...desks, ...questions, crons: new CronCatalog(ports) });
  } finally {
    await queue.close();
  }
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
