import type { ConnectionOptions } from 'node:tls';
import { z } from 'zod';
import { knownInstead } from '../base/checked-options.js';
import type { CredentialsSource } from './redis-credentials.js';
import { isRedisUrl, redactUrl } from './redis-target.js';
import type { ClusterTarget, RedisInstance, RedisSource, RedisTarget } from './redis-target.js';

/**
 * Where a Redis is: the address of one server, that with more, how to find one, or a connection of ioredis. The options of a
 * connection are used for connections of our own: an instance stays as it is and its owner's to close, the result of a
 * function is closed here.
 */
export type RedisOption = string | RedisTarget | RedisInstance | (() => RedisInstance | Promise<RedisInstance>);

const EXPECTED =
  'expected a Redis address such as redis://localhost:6379, or { url }, { sentinel: { sentinels, name } } or ' +
  '{ cluster: [address, …] }, or a connection of ioredis, or a function that returns one';

/** The option `redis` of a module. */
export const redisOption = z.custom<RedisOption>((value) => redisOptionIssue(value) === undefined, {
  error: ({ input }) => redisOptionIssue(input) ?? EXPECTED,
});

/** What was expected instead, as the rest of a sentence; nothing where the shape is right. Addresses are checked when connecting. */
export function redisOptionIssue(value: unknown): string | undefined {
  if (typeof value === 'string') return isRedisUrl(value) ? undefined : EXPECTED;
  if (typeof value === 'function') return undefined;
  if (typeof value !== 'object' || value === null) return EXPECTED;
  if (isRedisInstance(value)) return prefixIssue(value);
  const given = value as Partial<Record<string, unknown>>;
  const places = PLACES.filter((name) => given[name] !== undefined);
  const [place, ...others] = places;
  if (place === undefined || others.length > 0 || !SHAPES[place](given[place])) return EXPECTED;
  return accessIssue(place, given);
}

/** @returns the target that an option names */
export function redisTargetOf(option: RedisOption): RedisTarget | RedisSource {
  if (typeof option === 'string') return { url: option };
  if (typeof option === 'function') return { factory: option };
  return isRedisInstance(option) ? { instance: option } : option;
}

/** The value for a message, without credentials. */
export function shownRedisOption(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(redactUrl(value)) : `an ${typeof value}`.replace('an f', 'a f');
}

/** By its methods: there may be two copies of ioredis, and then two classes. */
export function isRedisInstance(value: unknown): value is RedisInstance {
  if (typeof value !== 'object' || value === null) return false;
  const { options, duplicate, disconnect } = value as Partial<Record<string, unknown>>;
  return typeof options === 'object' && typeof duplicate === 'function' && typeof disconnect === 'function';
}

/** BullMQ refuses a connection with a prefix of its own, and our keys would be others than those of the next pod. */
export function prefixIssue({ options }: RedisInstance): string | undefined {
  return Reflect.get(options, 'keyPrefix')
    ? 'expected a connection of ioredis without "keyPrefix"; use the option "prefix"'
    : undefined;
}

const PLACES = ['url', 'sentinel', 'cluster'] as const;

const SHAPES = {
  url: (value: unknown) => typeof value === 'string' && isRedisUrl(value),
  sentinel: isSentinel,
  cluster: (value: unknown) => Array.isArray(value) && value.every((url) => typeof url === 'string'),
} satisfies Record<(typeof PLACES)[number], (value: unknown) => boolean>;

function accessIssue(place: (typeof PLACES)[number], given: Partial<Record<string, unknown>>): string | undefined {
  const known = [place, 'credentials', 'tls'];
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    return `expected no ${JSON.stringify(unknown)} in it; ${knownInstead(unknown, known).replace(/\?$/, '')}`;
  }
  const { credentials, tls } = given as { credentials?: CredentialsSource; tls?: ConnectionOptions };
  if (credentials !== undefined && typeof credentials !== 'function') {
    return 'expected "credentials" to be a function that returns { username, password, expiresAt }';
  }
  if (tls === undefined) return undefined;
  if (typeof tls !== 'object' || tls === null) return 'expected "tls" to be an object such as { ca }';
  return addresses(given).every((url) => url.startsWith('rediss:'))
    ? undefined
    : 'expected addresses with rediss:// beside "tls"';
}

function addresses({ url, cluster = [] }: Partial<Record<string, unknown>>): readonly string[] {
  return typeof url === 'string' ? [url] : (cluster as ClusterTarget['cluster']);
}

function isSentinel(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { sentinels, name } = value as Partial<Record<string, unknown>>;
  return Array.isArray(sentinels) && sentinels.every(isHostAndPort) && typeof name === 'string';
}

function isHostAndPort(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { host, port } = value as Partial<Record<string, unknown>>;
  return typeof host === 'string' && typeof port === 'number';
}
