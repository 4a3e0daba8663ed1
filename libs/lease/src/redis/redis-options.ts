import type { RedisOptions } from 'ioredis';
import type { Clock } from '../base/clock.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import type { ClusterSettings, SingleOptions } from './redis-clients.js';
import type { RotatingCredentials } from './redis-credentials.js';
import type { ClusterTarget, RedisAccess, SentinelTarget } from './redis-target.js';
import type { Criticality } from '../store/finding.js';

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

/** {@link RedisAccess} with its function at work. */
export type Access = Pick<RedisAccess, 'tls'> & { readonly credentials?: RotatingCredentials };

type Settings = ConnectSettings & { readonly access?: Access };

export function singleOptions(settings: Settings, startup: Startup): SingleOptions {
  const { tls, credentials } = settings.access ?? {};
  return {
    ...nodeOptions(settings),
    ...(tls ? { tls } : {}),
    ...(credentials ? { credentials } : {}),
    lazyConnect: true,
    retryStrategy: pauses(settings, startup),
    // A demoted primary keeps its connections open and refuses every write; the next one has to be looked up again.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  };
}

export function sentinelOptions(
  { sentinel: { sentinels, tls: isOn = false, ...address } }: SentinelTarget,
  settings: Settings,
  startup: Startup,
): SingleOptions {
  const tls = settings.access?.tls ?? (isOn ? {} : undefined);
  return {
    ...singleOptions(settings, startup),
    ...address,
    sentinels: [...sentinels],
    ...sentinelPatience(settings, startup),
    ...(tls ? { tls, sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
  };
}

function sentinelPatience(settings: ConnectSettings, startup: Startup): SingleOptions {
  return {
    // A primary, and not what sentinels with an old view take for one: ioredis compares its role at each connection.
    role: 'master',
    // One sentinel that is gone must not use up the time in which the others could be asked.
    connectTimeout: SENTINEL_MS,
    sentinelCommandTimeout: SENTINEL_MS,
    sentinelRetryStrategy: pauses(settings, startup),
  };
}

/** The options of a connection that was opened elsewhere, for one of ours: its place, its user, its TLS. */
export function adoptedOptions(given: RedisOptions, settings: ConnectSettings, startup: Startup): SingleOptions {
  return {
    ...(given as SingleOptions),
    ...PLAIN,
    ...singleOptions(settings, startup),
    ...(given.sentinels ? sentinelPatience(settings, startup) : {}),
  };
}

/** What would change replies, or let a command fail before the connection is up. */
const PLAIN = {
  stringNumbers: false,
  replyMapping: 'legacy',
  readOnly: false,
  monitor: false,
  enableOfflineQueue: true,
  enableReadyCheck: true,
  enableAutoPipelining: false,
} as const;

export function adoptedClusterOptions(
  { redisOptions = {}, ...given }: ClusterSettings,
  settings: ConnectSettings,
  startup: Startup,
): ClusterSettings {
  const ours = clusterOptions({ cluster: ['redis://adopted'] }, settings, startup);
  const nodes = { ...redisOptions, ...PLAIN, ...ours.redisOptions };
  return { ...given, enableOfflineQueue: true, enableAutoPipelining: false, ...ours, redisOptions: nodes };
}

export function clusterOptions({ cluster }: ClusterTarget, settings: Settings, startup: Startup): ClusterSettings {
  const { tls, credentials } = settings.access ?? {};
  const { username, password, protocol } = new URL(cluster[0] ?? '');
  return {
    lazyConnect: true,
    clusterRetryStrategy: pauses(settings, startup),
    scaleReads: 'master',
    slotsRefreshTimeout: SENTINEL_MS,
    // A frozen node refuses nothing, so nothing else would show that its slots have moved.
    slotsRefreshInterval: NODES_CHECKED_EVERY_MS,
    ...(credentials ? { credentials } : {}),
    redisOptions: {
      ...nodeOptions(settings),
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(password === '' ? {} : { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' ? { tls: tls ?? {} } : {}),
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
