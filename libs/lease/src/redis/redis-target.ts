import type { ConnectionOptions } from 'node:tls';
import type { RedisOptions } from 'ioredis';
import { SetupError } from '../base/errors.js';
import type { CredentialsSource } from './redis-credentials.js';

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** A primary that sentinels know by its name; the names of the options are those of ioredis. */
export interface SentinelAddress {
  readonly sentinels: readonly HostAndPort[];
  /** What the sentinels call the primary, such as `mymaster`. */
  readonly name: string;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  /** TLS to the primary and to the sentinels; default `false`. */
  readonly tls?: boolean;
}

/** How connections authenticate, where an address can't say it. */
export interface RedisAccess {
  /**
   * Called before each new connection, and again before `expiresAt` of its result: passwords that rotate, tokens of a cloud. Goes
   * before what an address says. Sentinels keep the user and the password of their own.
   */
  readonly credentials?: CredentialsSource;
  /** TLS with more than the system's certificate authorities: `{ ca }`, `{ cert, key }`. Addresses begin with `rediss://` then. */
  readonly tls?: ConnectionOptions;
}

export interface UrlTarget extends RedisAccess {
  /** `redis://` or `rediss://`, with user, password and database where needed. */
  readonly url: string;
}

export interface SentinelTarget extends RedisAccess {
  readonly sentinel: SentinelAddress;
}

export interface ClusterTarget extends RedisAccess {
  /** Some of the nodes, as addresses; the first one's user, password and TLS go for all. The others are found by them. */
  readonly cluster: readonly string[];
}

/** Where leases are kept: one server, the primary that sentinels watch, or a cluster. */
export type RedisTarget = UrlTarget | SentinelTarget | ClusterTarget;

/** A `Redis` or `Cluster` of ioredis, of any copy of it. */
export interface RedisInstance {
  readonly options: object;
  readonly isCluster: boolean;
  duplicate(...args: never[]): unknown;
  disconnect(reconnect?: boolean): void;
}

/** A connection whose options are used instead of an address; that of a function is ours to close. */
export type RedisSource =
  { readonly instance: RedisInstance } | { readonly factory: () => RedisInstance | Promise<RedisInstance> };

/**
 * How messages call it, without credentials.
 * @throws {SetupError} when it can't be one
 */
export function addressOf(target: RedisTarget | { readonly instance: RedisInstance }): string {
  if ('instance' in target) return placeOfInstance(target.instance);
  if ('cluster' in target) return `the cluster of ${listed(target.cluster.map(checkedUrl), 'cluster')}`;
  if ('url' in target) return checkedUrl(target.url);
  const { sentinels, name } = target.sentinel;
  if (name === '') throw new SetupError('Expected the name that the sentinels have for the primary, got "".');
  return `${name} of the sentinels ${listed(
    sentinels.map(({ host, port }) => `${host}:${port}`),
    'sentinels',
  )}`;
}

function placeOfInstance({ options, isCluster }: RedisInstance): string {
  if (isCluster) return 'the cluster of the given connection';
  const { path, host = 'localhost', port = 6379, sentinels, name } = options as RedisOptions;
  return sentinels ? `${name} of the given sentinels` : (path ?? `${host}:${port}`);
}

function listed(addresses: readonly string[], what: string): string {
  if (addresses.length > 0) return addresses.join(', ');
  throw new SetupError(`Expected at least one address in "${what}", got none.`);
}

function checkedUrl(url: string): string {
  if (isRedisUrl(url)) return redactUrl(url);
  throw new SetupError(
    `Expected a Redis address such as redis://localhost:6379, got ${JSON.stringify(redactUrl(url))}.`,
  );
}

/** Whether `url` is a `redis://` or `rediss://` address. */
export function isRedisUrl(url: string): boolean {
  return URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol);
}

/** An address as messages show it: without credentials and query, also when it isn't an address at all. */
export function redactUrl(url: string): string {
  return url.replace(/^([a-z]+:\/\/)?.*@/is, '$1***@').replace(/\?.*$/s, '');
}

/** A system and its addresses, without passwords, and in an order of its own: the same ones compare equal. */
export function shownAddresses(text: string): string {
  const [, system = '', rest = ''] = /^([a-z]*:?)(.*)$/is.exec(text) ?? [];
  const addresses = rest.split(',').map((one) => one.trim().replace(/\/\/.*@/, '//***@'));
  return system + addresses.toSorted().join(',');
}
