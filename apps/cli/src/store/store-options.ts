import { SetupError } from '@fencepost/lease';
import { redisFromEnvironment } from '@fencepost/lease/internal/options';
import { isRedisUrl, redactUrl } from '@fencepost/lease/internal/redis';
import type { RedisTarget } from '@fencepost/lease/redis';
import type { Command } from 'commander';
import { UsageError } from '../exit.js';
import { placeEnv } from '../place.js';
import type { World } from '../world.js';

/** As they stand on the command line. */
export interface StoreFlags {
  readonly redis?: string;
  readonly prefix?: string;
  readonly tenant?: string;
  readonly postgres?: string;
  readonly schema?: string;
  readonly leases?: string;
}

/** Where runs and effects are, where that is not Redis. */
export interface DatabaseAddress {
  readonly url: string;
  readonly schema: string;
}

export interface StoreAddress {
  /** Where Redis is. */
  readonly redis: RedisTarget;
  readonly prefix: string;
  /** `null`: nobody named one. */
  readonly tenant: string | null;
  /** `null`: the ledger is in Redis. */
  readonly database: DatabaseAddress | null;
  /** Where the leases of crons are, as `leases` of JobsModule has it. */
  readonly leases: string;
  /** With the ledger in Redis: how many replicas have to have an order before it counts as given. */
  readonly waitReplicas: number;
}

const MAX_REPLICAS = 100;

const WHERE = 'Redis address (default: REDIS_URL, REDIS_SENTINELS or REDIS_CLUSTER, then redis://localhost:6379)';
const ANY = 'default: "default", or the only tenant with crons';

export function withStoreOptions(command: Command): Command {
  return withDatabaseOptions(command)
    .option('--redis <url>', WHERE)
    .option('--prefix <name>', 'prefix of all keys (default: FENCEPOST_PREFIX, then fencepost)')
    .option('--tenant <name>', `tenant (default: FENCEPOST_TENANT; ${ANY})`)
    .option('--leases <place>', 'where the leases of crons are (default: FENCEPOST_LEASES, then redis)');
}

const DATABASE = 'PostgreSQL of the ledger (default: DATABASE_URL if FENCEPOST_LEDGER is postgres)';

export function withDatabaseOptions(command: Command): Command {
  return command
    .option('--postgres <url>', DATABASE)
    .option('--schema <name>', 'schema of its tables (default: FENCEPOST_SCHEMA, then fencepost)');
}

type Around = Pick<World, 'env' | 'placeFile'>;

/** @throws {UsageError} */
export function databaseAddress(
  flags: Pick<StoreFlags, 'redis' | 'postgres' | 'schema'>,
  world: Around,
): DatabaseAddress | null {
  const { postgres, schema } = flags;
  const env = placeEnv(flags, world);
  const url = postgres ?? (env['FENCEPOST_LEDGER'] === 'postgres' ? env['DATABASE_URL'] || '' : null);
  if (url === null) return null;
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError(`Expected --postgres (or DATABASE_URL) to be a postgres:// address, got "${redactUrl(url)}".`);
  }
  return { url, schema: schema ?? (env['FENCEPOST_SCHEMA'] || 'fencepost') };
}

/** @throws {UsageError} */
export function storeAddress(flags: StoreFlags, world: Around): StoreAddress {
  const env = placeEnv(flags, world);
  return {
    ...redisAddress(flags, { env }),
    database: databaseAddress(flags, world),
    leases: flags.leases ?? (env['FENCEPOST_LEASES'] || 'redis'),
    waitReplicas: replicasIn(env),
  };
}

/** As the pods have it: an order that waits for none could be forgotten by a failover that their claims survive. */
function replicasIn(env: World['env']): number {
  const text = env['FENCEPOST_WAIT_REPLICAS'] || '0';
  if (/^\d{1,3}$/.test(text) && Number(text) <= MAX_REPLICAS) return Number(text);
  throw new UsageError(
    `Expected FENCEPOST_WAIT_REPLICAS to be a whole number from 0 to ${MAX_REPLICAS}, got "${text}".`,
  );
}

function redisAddress(
  { redis, prefix, tenant }: StoreFlags,
  { env }: Pick<World, 'env'>,
): Pick<StoreAddress, 'redis' | 'prefix' | 'tenant'> {
  // An empty variable is none: that is how a shell and a compose file leave one out.
  return {
    redis: redisTarget(redis, env),
    prefix: prefix ?? (env['FENCEPOST_PREFIX'] || 'fencepost'),
    tenant: tenant ?? (env['FENCEPOST_TENANT'] || null),
  };
}

function redisTarget(flag: string | undefined, env: World['env']): RedisTarget {
  const url = flag ?? fromEnvironment(env) ?? 'redis://localhost:6379';
  if (typeof url !== 'string') return url;
  if (isRedisUrl(url)) return { url };
  throw new UsageError(
    `Expected --redis (or REDIS_URL) to be a redis:// or rediss:// address, got "${redactUrl(url)}".`,
  );
}

function fromEnvironment(env: World['env']): ReturnType<typeof redisFromEnvironment> {
  try {
    return redisFromEnvironment(env);
  } catch (error) {
    if (error instanceof SetupError) throw new UsageError(error.message);
    throw error;
  }
}
