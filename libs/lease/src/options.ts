import { z } from 'zod';
import { checkedOptions } from './checked-options.js';
import { parseDuration } from './duration.js';
import { LONGEST_TTL_MS, SHORTEST_TTL_MS } from './lease-request.js';
import { isRedisUrl, redactUrl } from './redis-address.js';

export interface LeaseModuleOptions {
  /** `redis://` or `rediss://`, with user, password and database where needed. */
  readonly redis: string;
  /** First part of every key; default `fencepost`. */
  readonly prefix?: string;
  /** Whose resources they are, where several share a Redis; default `default`. */
  readonly tenant?: string;
  /** How long a lease lasts without renewal, `'300ms'` to `'1h'`; default `'10s'`. */
  readonly ttl?: string | number;
  /** A label for people in front of this process' random identity; default: the host's name. */
  readonly holder?: string;
}

/** {@link LeaseModuleOptions} as the rest of the library uses them. */
export interface LeaseSettings {
  readonly redis: string;
  readonly prefix: string;
  readonly tenant: string;
  readonly ttlMs: number;
  readonly holder?: string;
}

const word = (length: number) =>
  z.string(`expected 1 to ${length} letters, digits or . _ -`).regex(new RegExp(`^[A-Za-z0-9._-]{1,${length}}$`), {
    error: `expected 1 to ${length} letters, digits or . _ -`,
  });

const REDIS = 'expected a Redis address such as redis://localhost:6379';
const TTL = "expected a duration from '300ms' to '1h'";

const schema = z.strictObject(
  {
    redis: z.string(REDIS).refine(isRedisUrl, REDIS),
    prefix: word(200).default('fencepost'),
    tenant: word(200).default('default'),
    ttl: z.union([z.string(), z.number()], TTL).refine(isTtl, TTL).default('10s'),
    holder: word(64).optional(),
  },
  'expected an object such as { redis: "redis://localhost:6379" }',
);

/** @throws {SetupError} naming each wrong option, what was expected, and what came */
export function leaseSettings(options: LeaseModuleOptions): LeaseSettings {
  const secrets = { redis: (value: unknown) => JSON.stringify(redactUrl(String(value))) };
  const { ttl, holder, ...rest } = checkedOptions({ owner: 'LeaseModule', schema, secrets }, options);
  return { ...rest, ttlMs: parseDuration(ttl), ...(holder === undefined ? {} : { holder }) };
}

function isTtl(value: string | number): boolean {
  try {
    const ttlMs = parseDuration(value);
    return ttlMs >= SHORTEST_TTL_MS && ttlMs <= LONGEST_TTL_MS;
  } catch {
    return false;
  }
}
