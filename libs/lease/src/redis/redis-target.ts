import { SetupError } from '../base/errors.js';

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

export interface UrlTarget {
  /** `redis://` or `rediss://`, with user, password and database where needed. */
  readonly url: string;
}

export interface SentinelTarget {
  readonly sentinel: SentinelAddress;
}

export interface ClusterTarget {
  /** Some of the nodes, as addresses; the first one's user, password and TLS go for all. The others are found by them. */
  readonly cluster: readonly string[];
}

/** Where leases are kept: one server, the primary that sentinels watch, or a cluster. */
export type RedisTarget = UrlTarget | SentinelTarget | ClusterTarget;

/**
 * How messages call it, without credentials.
 * @throws {SetupError} when it can't be one
 */
export function addressOf(target: RedisTarget): string {
  if ('cluster' in target) return `the cluster of ${listed(target.cluster.map(checkedUrl), 'cluster')}`;
  if ('url' in target) return checkedUrl(target.url);
  const { sentinels, name } = target.sentinel;
  if (name === '') throw new SetupError('Expected the name that the sentinels have for the primary, got "".');
  return `${name} of the sentinels ${listed(
    sentinels.map(({ host, port }) => `${host}:${port}`),
    'sentinels',
  )}`;
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
