import { isRedisUrl, redactUrl } from './redis-address.js';
import type { ClusterTarget, SentinelTarget } from './redis-target.js';

/** Where a Redis is, as an option says it: the address of one server, or how to find one. */
export type RedisOption = string | SentinelTarget | ClusterTarget;

/** The expected form of an invalid option. */
export const REDIS_OPTION =
  'expected a Redis address such as redis://localhost:6379, or { sentinel: { sentinels, name } }, or { cluster: [address, …] }';

/** Whether `value` has the shape of one; its addresses are checked when connecting. */
export function isRedisOption(value: unknown): value is RedisOption {
  if (typeof value === 'string') return isRedisUrl(value);
  if (typeof value !== 'object' || value === null) return false;
  const { sentinel, cluster } = value as Partial<Record<string, unknown>>;
  if (Object.keys(value).length !== 1) return false;
  return isSentinel(sentinel) || (Array.isArray(cluster) && cluster.every((url) => typeof url === 'string'));
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

/** The value for a message, without credentials. */
export function shownRedisOption(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(redactUrl(value)) : 'an object';
}
