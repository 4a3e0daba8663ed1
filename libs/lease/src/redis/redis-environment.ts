import { readFileSync } from 'node:fs';
import { SetupError } from '../base/errors.js';
import { isRedisUrl, redactUrl } from './redis-target.js';
import type { HostAndPort, RedisAccess, RedisTarget, SentinelAddress } from './redis-target.js';

type Variables = Readonly<Record<string, string | undefined>>;

const PLACES = ['REDIS_URL', 'REDIS_SENTINELS', 'REDIS_CLUSTER'] as const;
const SENTINEL_PORT = 26_379;

/**
 * Where a program's environment says that its Redis is; `undefined` where it doesn't say. An empty variable counts as absent.
 *
 * `REDIS_URL` is the address of one server. `REDIS_SENTINELS=host:port,…` with `REDIS_SENTINEL_NAME`, the name they have for
 * the primary, and where needed `REDIS_USERNAME`, `REDIS_PASSWORD`, `REDIS_DB`, `REDIS_SENTINEL_USERNAME`,
 * `REDIS_SENTINEL_PASSWORD` and `REDIS_TLS=true`. `REDIS_CLUSTER=redis://…,redis://…` names some nodes of a cluster.
 *
 * `REDIS_PASSWORD_FILE`, and `REDIS_USERNAME_FILE` or `REDIS_USERNAME` beside it, are read again before each new connection, so a
 * mounted secret may change. `REDIS_CA_FILE` has the certificate authorities of the servers.
 * @throws {SetupError} a sentence that names the variable, and shows no password
 */
export function redisFromEnvironment(variables: Variables): string | RedisTarget | undefined {
  const given = (name: string) => variables[name] || undefined;
  const access = accessOf(given);
  const place = placeOf(given);
  if (Object.keys(access).length === 0 || place === undefined) return place;
  return { ...(typeof place === 'string' ? { url: place } : place), ...access };
}

function placeOf(given: Given): string | RedisTarget | undefined {
  const places = PLACES.filter((name) => given(name) !== undefined);
  if (places.length > 1) {
    throw new SetupError(`Expected one of ${PLACES.join(', ')}, got ${places.join(' and ')}. Leave out all but one.`);
  }
  if (places[0] === 'REDIS_CLUSTER') return { cluster: listed(given('REDIS_CLUSTER')).map(checkedNode) };
  if (places[0] === 'REDIS_SENTINELS') return { sentinel: sentinelAddress(given) };
  if (given('REDIS_SENTINEL_NAME') === undefined) return given('REDIS_URL');
  throw new SetupError('Expected REDIS_SENTINELS beside REDIS_SENTINEL_NAME: host:port of each, separated by commas.');
}

type Given = (name: string) => string | undefined;

function accessOf(given: Given): RedisAccess {
  const [passwordFile, usernameFile, caFile] = ['PASSWORD', 'USERNAME', 'CA'].map((what) =>
    given(`REDIS_${what}_FILE`),
  );
  if (usernameFile !== undefined && passwordFile === undefined) {
    throw new SetupError('Expected REDIS_PASSWORD_FILE beside REDIS_USERNAME_FILE.');
  }
  const credentials = (file: string) => () => {
    const username = usernameFile === undefined ? given('REDIS_USERNAME') : contentOf(usernameFile);
    return { password: contentOf(file), ...(username === undefined ? {} : { username }) };
  };
  return {
    ...(passwordFile === undefined ? {} : { credentials: credentials(passwordFile) }),
    ...(caFile === undefined ? {} : { tls: { ca: certificatesIn(caFile) } }),
  };
}

/** Without the end of line that an editor leaves. */
function contentOf(file: string): string {
  return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
}

function certificatesIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SetupError(`Expected REDIS_CA_FILE to be a readable file, got "${file}".`, { cause });
  }
}

function sentinelAddress(given: Given): SentinelAddress {
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
