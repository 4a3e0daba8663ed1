import { SetupError } from '../base/errors.js';
import { type RedisOption } from './redis-options.js';
import { isRedisUrl, redactUrl } from './redis-target.js';
import type { HostAndPort, SentinelAddress } from './redis-target.js';

type Variables = Readonly<Record<string, string | undefined>>;

const PLACES = ['REDIS_URL', 'REDIS_SENTINELS', 'REDIS_CLUSTER'] as const;
const SENTINEL_PORT = 26_379;

/**
 * Where a program's environment says that its Redis is; `undefined` where it doesn't say. An empty variable counts as absent.
 *
 * `REDIS_URL` is the address of one server. `REDIS_SENTINELS=host:port,…` with `REDIS_SENTINEL_NAME`, the name they have for
 * the primary, and where needed `REDIS_USERNAME`, `REDIS_PASSWORD`, `REDIS_DB`, `REDIS_SENTINEL_USERNAME`,
 * `REDIS_SENTINEL_PASSWORD` and `REDIS_TLS=true`. `REDIS_CLUSTER=redis://…,redis://…` names some nodes of a cluster.
 * @throws {SetupError} a sentence that names the variable, and shows no password
 */
export function redisFromEnvironment(variables: Variables): RedisOption | undefined {
  const given = (name: string) => variables[name] || undefined;
  const places = PLACES.filter((name) => given(name) !== undefined);
  if (places.length > 1) {
    throw new SetupError(`Expected one of ${PLACES.join(', ')}, got ${places.join(' and ')}. Leave out all but one.`);
  }
  if (places[0] === 'REDIS_CLUSTER') return { cluster: listed(given('REDIS_CLUSTER')).map(checkedNode) };
  if (places[0] === 'REDIS_SENTINELS') return { sentinel: sentinelAddress(given) };
  if (given('REDIS_SENTINEL_NAME') === undefined) return given('REDIS_URL');
  throw new SetupError('Expected REDIS_SENTINELS beside REDIS_SENTINEL_NAME: host:port of each, separated by commas.');
}

function sentinelAddress(given: (name: string) => string | undefined): SentinelAddress {
  const name = given('REDIS_SENTINEL_NAME');
  if (name === undefined) {
    throw new SetupError(
      'Expected REDIS_SENTINEL_NAME beside REDIS_SENTINELS, what they call the primary, such as mymaster.',
    );
  }
  const texts = {
    username: given('REDIS_USERNAME'),
    password: given('REDIS_PASSWORD'),
    sentinelUsername: given('REDIS_SENTINEL_USERNAME'),
    sentinelPassword: given('REDIS_SENTINEL_PASSWORD'),
  };
  const present = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined));
  const db = given('REDIS_DB');
  return {
    sentinels: listed(given('REDIS_SENTINELS')).map(checkedSentinel),
    name,
    ...present,
    ...(db === undefined ? {} : { db: checkedDatabase(db) }),
    ...(isOn(given('REDIS_TLS')) ? { tls: true } : {}),
  };
}

function listed(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function checkedNode(url: string): string {
  if (isRedisUrl(url)) return url;
  throw new SetupError(
    `Expected REDIS_CLUSTER to be addresses such as redis://localhost:7000, separated by commas, got "${redactUrl(url)}".`,
  );
}

/** Without a port it is the one that sentinels usually have; an address of IPv6 stands in brackets. */
function checkedSentinel(text: string): HostAndPort {
  const [, bracketed, plain, port = SENTINEL_PORT] = /^(?:\[([^\]]+)\]|([^:@/\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new SetupError(
    `Expected REDIS_SENTINELS to be host:port of each, separated by commas, got "${redactUrl(text)}".`,
  );
}

function checkedDatabase(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new SetupError(`Expected REDIS_DB to be the number of a database, such as 0, got "${text}".`);
}

function isOn(text = 'false'): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new SetupError(`Expected REDIS_TLS to be true or false, got "${text}".`);
}
