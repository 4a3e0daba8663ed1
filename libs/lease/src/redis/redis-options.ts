import type { RedisOptions } from 'ioredis';
import type { Clock } from '../base/clock.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import type { ClusterSettings } from './redis-clients.js';
import { isRedisUrl, redactUrl } from './redis-target.js';
import type { ClusterTarget, SentinelAddress, SentinelTarget } from './redis-target.js';
import type { Criticality } from '../store/finding.js';

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

export interface ConnectSettings {
  /** No command waits longer, whether the server is frozen, slow or gone. */
  readonly commandTimeoutMs: number;
  /** What `CLIENT LIST` shows for this connection. */
  readonly name: string;
  /** What a lost lease costs; decides which guarantees the server must give, see `judgeServer`; default `efficiency`. */
  readonly criticality?: Criticality;
  /** How many replicas each acquire waits for, see `waitForReplicas`; default 0. */
  readonly awaitedReplicas?: number;
  /** Hears as `store.warning` what the server can't promise, and of each change of its history. */
  readonly observe?: LeaseObserver;
  /** Receives a line at the first connection error, then at most one every 5 s. */
  readonly onTrouble?: (message: string) => void;
  readonly clock?: Clock;
  /** From 0 up to 1. Spreads the reconnections of many pods after an outage they share. */
  readonly random?: () => number;
}

/** How far a first connection has come; its options ask. */
export interface Startup {
  started: boolean;
  readonly failures: Error[];
  /** What single nodes or sentinels answered; matters when no other could do better. */
  readonly hints: Error[];
}

export const STARTUP_MS = 5_000;
const MAX_PAUSE_MS = 2_000;
const SENTINEL_MS = 1_000;
const NODES_CHECKED_EVERY_MS = 2_000;

type SingleOptions = Omit<RedisOptions, 'replyMapping'>;

export function singleOptions(settings: ConnectSettings, startup: Startup): SingleOptions {
  return {
    ...nodeOptions(settings),
    lazyConnect: true,
    retryStrategy: pauses(settings, startup),
    // A demoted primary keeps its connections open and refuses every write; the next one has to be looked up again.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  };
}

export function sentinelOptions(
  { sentinels, tls = false, ...address }: SentinelAddress,
  settings: ConnectSettings,
  startup: Startup,
): SingleOptions {
  return {
    ...singleOptions(settings, startup),
    ...address,
    sentinels: [...sentinels],
    // A primary, and not what sentinels with an old view take for one: ioredis compares its role at each connection.
    role: 'master',
    // One sentinel that is gone must not use up the time in which the others could be asked.
    connectTimeout: SENTINEL_MS,
    sentinelCommandTimeout: SENTINEL_MS,
    sentinelRetryStrategy: pauses(settings, startup),
    ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  };
}

export function clusterOptions(
  { cluster }: ClusterTarget,
  settings: ConnectSettings,
  startup: Startup,
): ClusterSettings {
  const { username, password, protocol } = new URL(cluster[0] ?? '');
  return {
    lazyConnect: true,
    clusterRetryStrategy: pauses(settings, startup),
    scaleReads: 'master',
    slotsRefreshTimeout: SENTINEL_MS,
    // A frozen node refuses nothing, so nothing else would show that its slots have moved.
    slotsRefreshInterval: NODES_CHECKED_EVERY_MS,
    redisOptions: {
      ...nodeOptions(settings),
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(password === '' ? {} : { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' ? { tls: {} } : {}),
    },
  };
}

export function clusterAddresses({ cluster }: ClusterTarget): { host: string; port: number }[] {
  return cluster.map((url) => {
    const { hostname, port } = new URL(url);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  });
}

/** A connection that is silent for twice the command timeout counts as dead, even if its socket is open. */
export function patienceMs(commandTimeoutMs: number): number {
  return 2 * commandTimeoutMs;
}

function nodeOptions({ name, commandTimeoutMs }: ConnectSettings): SingleOptions {
  return {
    connectionName: name,
    // Until the server is known: a process that starts is busy with itself, and may read an answer late that came in time.
    commandTimeout: Math.max(commandTimeoutMs, STARTUP_MS),
    connectTimeout: STARTUP_MS,
    // `disconnect` is polite for this long and then destroys the socket; a frozen server never closes its end.
    disconnectTimeout: 200,
    maxLoadingRetryTime: 500,
    // Unanswered commands are sent again after one short interruption. After that they are dropped: most have timed out
    // by then, and an acquire without a caller would only block the resource.
    maxRetriesPerRequest: 2,
  };
}

/** No retry before the start: the caller gets the error at once. Afterwards half of each pause is random. */
function pauses({ random = Math.random }: ConnectSettings, startup: Startup) {
  return (times: number) => (startup.started ? pauseMs(times) * (0.5 + random() / 2) : null);
}

function pauseMs(times: number): number {
  return Math.min(100 * 2 ** Math.min(times - 1, 10), MAX_PAUSE_MS);
}
