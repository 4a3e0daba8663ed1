import { z } from 'zod';
import { UsageError } from './exit.js';
import type { World } from './world.js';

/** Looked for in this folder and those above it. */
export const PLACE_FILE = '.fencepost.json';

const text = z.string().min(1).max(500).optional();

/** Where a deployment is, as the demo writes it down. */
const schema = z.strictObject({
  redis: text,
  prefix: text,
  tenant: text,
  leases: text,
  postgres: text,
  schema: text,
  /** Of a console; counts where no store is named. */
  url: text,
  /** The process that it ends with. */
  pid: z.int().min(1).optional(),
});

type Place = z.infer<typeof schema>;

const VARIABLES = {
  ...{ redis: 'REDIS_URL', prefix: 'FENCEPOST_PREFIX', tenant: 'FENCEPOST_TENANT', leases: 'FENCEPOST_LEASES' },
  ...{ postgres: 'DATABASE_URL', schema: 'FENCEPOST_SCHEMA', url: 'FENCEPOST_URL' },
} as const;

const SERVERS = ['REDIS_URL', 'REDIS_SENTINELS', 'REDIS_CLUSTER', 'FENCEPOST_URL', 'FENCEPOST_LEDGER'];

/** The flags that say which server is meant, with those of a console. */
export type PlaceFlags = { readonly [server in 'redis' | 'postgres' | 'url']?: string };

/**
 * The environment, and below it what the nearest {@link PLACE_FILE} says. Where the command line or the environment names a
 * server, the file is not looked at: it would mix two deployments.
 * @throws {UsageError} for a file that can't be read, or whose demo has ended
 */
export function placeEnv(flags: PlaceFlags, { env, placeFile }: Pick<World, 'env' | 'placeFile'>): World['env'] {
  const isNamed = [flags.redis, flags.postgres, flags.url, ...SERVERS.map((name) => env[name] || undefined)];
  const file = isNamed.some((each) => each !== undefined) ? null : (placeFile?.() ?? null);
  if (file === null) return env;
  const { pid, url, ...stores } = placeIn(file);
  if (pid !== undefined && !isAlive(pid)) {
    throw new UsageError(`The demo of ${file.path} has ended. Start it again with "npm start", or remove the file.`);
  }
  // A token is for an address that a person has named: a file in some folder is not to have it sent elsewhere.
  const named = stores.redis === undefined && url !== undefined ? { url } : stores;
  const isElsewhere = 'url' in named;
  const given = Object.entries(env).filter(([name, value]) => value && !(isElsewhere && name === 'FENCEPOST_TOKEN'));
  return { ...variablesOf(named), ...Object.fromEntries(given) };
}

function variablesOf(place: Place): Record<string, string> {
  const named = Object.entries(VARIABLES).flatMap(([key, name]) => {
    const value = place[key as keyof typeof VARIABLES];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(named), ...(place.postgres !== undefined && { FENCEPOST_LEDGER: 'postgres' }) };
}

function placeIn({ path, text: json }: { readonly path: string; readonly text: string }): Place {
  try {
    return schema.parse(JSON.parse(json));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error).replaceAll(/\s+/g, ' ') : String(error);
    throw new UsageError(`Cannot use ${path}: ${why}. Correct it, or remove it.`);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process lives as well.
    return Object(error).code === 'EPERM';
  }
}
