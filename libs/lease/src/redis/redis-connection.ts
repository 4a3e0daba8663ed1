import type { Cluster, Redis } from 'ioredis';
import { sleep, systemClock, type Clock, throttled } from '../base/clock.js';
import { SetupError } from '../base/errors.js';
import { unobserved } from '../telemetry/lease-events.js';
import type * as Clients from './redis-clients.js';
import type { BoundedCluster, ClusterNode, SingleRedis } from './redis-clients.js';
import { RotatingCredentials } from './redis-credentials.js';
import { HistoryWatch } from './redis-history.js';
import { isRedisInstance, prefixIssue } from './redis-option.js';
import {
  STARTUP_MS,
  adoptedClusterOptions,
  adoptedOptions,
  clusterAddresses,
  clusterOptions,
  patienceMs,
  sentinelOptions,
  singleOptions,
  type ConnectSettings,
  type Startup,
} from './redis-options.js';
import type { RedisClient } from './redis-script.js';
import {
  addressOf,
  type ClusterTarget,
  type RedisInstance,
  type RedisSource,
  type RedisTarget,
  type SentinelTarget,
  type UrlTarget,
} from './redis-target.js';
import type { StopWatching } from '../store/lease-store.js';
import { notifyWatcher } from '../store/lease-request.js';

export type ConnectOptions = ConnectSettings & (RedisTarget | RedisSource);

const TROUBLE_WINDOW_MS = 5_000;
/** `disconnectTimeout` is 200 ms. */
const MAX_CLOSING_MS = 1_000;

/**
 * Opens a connection that is known to work: it has answered, and it promises what `criticality` demands.
 *
 * Fails fast while it starts; once it has been connected it comes back by itself for as long as the process lives, also
 * to another host where sentinels or a cluster have chosen a new primary. Only primaries are asked.
 * @throws {SetupError} one sentence for each thing to change; no socket is left open then
 */
export async function connectRedis(options: ConnectSettings & (UrlTarget | SentinelTarget)): Promise<Redis>;
export async function connectRedis(options: ConnectSettings & ClusterTarget): Promise<Cluster>;
export async function connectRedis(options: ConnectOptions): Promise<RedisClient>;
export async function connectRedis(options: ConnectOptions): Promise<RedisClient> {
  const { onTrouble = () => {}, clock = systemClock } = options;
  const opened = 'factory' in options ? await made(options.factory) : undefined;
  const target = opened ? { ...options, instance: opened } : (options as Located);
  const address = addressOf(target);
  const startup: Startup = { started: false, failures: [], hints: [] };
  const report = throttled(onTrouble, { clock, windowMs: TROUBLE_WINDOW_MS });
  const clients = await import('./redis-clients.js');
  const redis = clientFor(target, {
    clients,
    startup,
    clock,
    report: (message) => report(`Redis at ${address}: ${message}`),
  });
  if (opened) templates.set(redis, opened);
  const trouble = (of: Error[], error: Error, place = address) => {
    if (startup.started) report(`Redis at ${place}: ${error.message}`);
    else of.push(error);
  };
  redis.on('error', (error: Error) => trouble(startup.failures, error));
  redis.on('node error', (error: Error, node: string) => trouble(startup.hints, error, node));
  redis.on('sentinelError', (error: Error) => trouble(startup.hints, error));
  try {
    await withinStartup(clock, start(redis, startup, { ...options, clock, address }));
    return redis;
  } catch (error) {
    await closeRedis(redis);
    if (error instanceof SetupError) throw error;
    // No `cause`: ioredis keeps a failed command's arguments on its error, and for AUTH that is the password.
    throw new SetupError(describeFailure(address, reasonOf(startup, error)));
  }
}

/** "No server reachable" says less than the answer of one server. */
function reasonOf({ failures, hints }: Startup, error: unknown): unknown {
  const [failure = error] = failures;
  const noServer = failure instanceof Error && /All sentinels|refresh slots|startup nodes/.test(failure.message);
  const answer = hints.find(({ message }) => !message.includes('Connection is closed'));
  return noServer ? (answer ?? failure) : failure;
}

type Client = SingleRedis | BoundedCluster;

type Located = ConnectSettings & (RedisTarget | { readonly instance: RedisInstance });

/** The results of factories, which end with the connections made of them. */
const templates = new WeakMap<RedisClient, RedisInstance>();

async function made(factory: () => RedisInstance | Promise<RedisInstance>): Promise<RedisInstance> {
  const instance: unknown = await factory();
  const issue = isRedisInstance(instance) ? prefixIssue(instance) : 'expected a connection of ioredis';
  if (issue === undefined) return instance as RedisInstance;
  throw new SetupError(`The function in the option "redis" returned an unexpected value: ${issue}.`);
}

interface Making {
  /** ioredis is imported with the first connection: a program that only imports this package, such as a test, needs none. */
  readonly clients: typeof Clients;
  readonly startup: Startup;
  readonly clock: Clock;
  readonly report: (message: string) => void;
}

function clientFor(options: Located, { clients, startup, ...deps }: Making): Client {
  const { BoundedCluster, SingleRedis } = clients;
  if ('instance' in options) return adopted(options.instance, options, { clients, startup });
  const { tls, credentials: source } = options;
  const credentials = source && new RotatingCredentials(source, deps);
  const settings = { ...options, access: { ...(tls ? { tls } : {}), ...(credentials ? { credentials } : {}) } };
  if ('cluster' in options) {
    return new BoundedCluster(clusterAddresses(options), clusterOptions(options, settings, startup), STARTUP_MS);
  }
  return 'url' in options
    ? new SingleRedis(options.url, singleOptions(settings, startup))
    : new SingleRedis(sentinelOptions(options, settings, startup));
}

/** A connection of our own to where another one goes: that one may be used, shared or closed as its owner likes. */
function adopted(
  instance: RedisInstance,
  settings: ConnectSettings,
  { clients, startup }: Pick<Making, 'clients' | 'startup'>,
): Client {
  const { BoundedCluster, SingleRedis } = clients;
  if (!instance.isCluster) return new SingleRedis(adoptedOptions(instance.options, settings, startup));
  const nodes = Reflect.get(instance, 'startupNodes') as readonly ClusterNode[];
  return new BoundedCluster(nodes, adoptedClusterOptions(instance.options, settings, startup), STARTUP_MS);
}

type Start = ConnectSettings & { readonly clock: Clock; readonly address: string };

async function start(redis: Client, startup: Startup, options: Start): Promise<void> {
  const { criticality = 'efficiency', awaitedReplicas = 0, clock, observe = unobserved, address } = options;
  await Promise.race([redis.connect(), ended(redis)]);
  const history = new HistoryWatch({
    demands: { criticality, awaitedReplicas },
    clock,
    observe,
    ...(redis.isCluster ? {} : { address }),
  });
  const findings = await history.begin(redis);
  const refused = findings.filter(({ danger }) => danger === 'refuse');
  if (refused.length > 0) throw new SetupError(refused.map(({ message }) => message).join(' '));
  // A failed SELECT is only emitted, and the connection would go on with database 0.
  if (startup.failures[0]) throw startup.failures[0];
  beStrict(redis, options.commandTimeoutMs);
  startup.started = true;
  history.follow(redis);
  for (const { code, message } of findings) observe({ name: 'store.warning', code, message });
}

/** A cluster with missing slots closes its connections again and leaves the caller waiting. */
async function ended(redis: Client): Promise<never> {
  await new Promise<void>((resolve) => redis.once('end', resolve));
  throw new Error(redis.isCluster ? 'The cluster is not whole' : 'Connection is closed.');
}

/** Until here a slow answer was as good as a quick one. */
function beStrict(redis: Client, commandTimeoutMs: number): void {
  if ('limitMs' in redis) {
    redis.limitMs = commandTimeoutMs;
    return;
  }
  redis.options.commandTimeout = commandTimeoutMs;
  redis.options.socketTimeout = patienceMs(commandTimeoutMs);
}

async function withinStartup(clock: Clock, work: Promise<void>): Promise<void> {
  const finished = new AbortController();
  const deadline = sleep(clock, STARTUP_MS, finished.signal).then(() => {
    if (!finished.signal.aborted) throw new Error('connect ETIMEDOUT');
  });
  try {
    await Promise.race([work, deadline]);
  } finally {
    finished.abort();
    // Whatever still runs ends with the connection; its late rejection is no news.
    work.catch(() => {});
  }
}

const closings = new WeakMap<RedisClient, Promise<void>>();

/** Closes at once and resolves when the sockets are gone; unanswered commands reject. Closing twice does nothing. */
export function closeRedis(redis: RedisClient): Promise<void> {
  const closing = closings.get(redis) ?? close(redis);
  closings.set(redis, closing);
  return closing;
}

async function close(redis: RedisClient): Promise<void> {
  templates.get(redis)?.disconnect();
  // A cluster says that it has ended when the first of its connections has.
  const parts = redis.isCluster ? [redis, ...(redis as Cluster).nodes()] : [redis];
  const endings = parts.map(whenEnded);
  redis.disconnect();
  await Promise.all(endings);
}

/**
 * A socket is destroyed soon after it was asked to close. A connection that was just being made to a node that is gone may
 * never say that it has ended, so its word is not waited for any longer than that takes.
 */
async function whenEnded(redis: RedisClient): Promise<void> {
  // Between two attempts there is no socket whose end ioredis could report.
  if (redis.status === 'end' || redis.status === 'reconnecting') return;
  const gone = new AbortController();
  redis.once('end', () => gone.abort());
  await sleep(systemClock, MAX_CLOSING_MS, gone.signal);
}

/** Why a first connection failed, in one sentence that says what to do. Never contains more than `address` shows. */
export function describeFailure(address: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const known = FAILURES.find(([pattern]) => pattern.test(message));
  return `Expected a Redis at ${address}, but ${known ? known[1] : `connecting failed: ${message}`}`;
}

const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nothing listens there (ECONNREFUSED). Start Redis, or correct the address.'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name cannot be resolved. Correct the address, or the name service.'],
  [
    /ETIMEDOUT|timed out|EHOSTUNREACH|ENETUNREACH/,
    'it did not answer in time. Check the address, the firewall and the server.',
  ],
  [/WRONGPASS|invalid password/, 'it refused the user or the password (WRONGPASS). Correct them in the address.'],
  [/NOAUTH/, 'it wants a password (NOAUTH). Put one into the address: redis://:<password>@<host>:<port>.'],
  [
    /NOPERM/,
    'its user may not run INFO, so its version and settings are unknown. Allow it with: ACL SETUSER <user> +info.',
  ],
  [/cluster support disabled/, 'it is not a cluster. Connect with { url } instead of { cluster }.'],
  [/cluster is not whole|CLUSTERDOWN/, 'some of its slots are not served. Check CLUSTER INFO and repair the cluster.'],
  [/invalid reply|No such master/, 'they know no primary of that name. Correct the name.'],
  [
    /All sentinels|to connect to sentinel|refresh slots|startup nodes/,
    'none of them answers. Start them, or correct their addresses.',
  ],
  [/DB index|SELECT/i, 'it does not have the database at the end of the address. Use an existing one, such as /0.'],
  [/loading the dataset/i, 'it is still loading its data. Try again when it has finished.'],
  [/Unknown RESP|Protocol error/, 'what answers there is not a Redis. Correct the address.'],
  [
    /Connection is closed|ECONNRESET|EPIPE/,
    'it closed the connection. Check that it is a Redis, and redis:// or rediss:// (TLS).',
  ],
];

/**
 * Listens to one channel on a connection of its own, because a subscribed connection can do nothing else.
 *
 * What is published while it is down is lost: a message here is a hint, never the only way to learn something.
 */
export async function watchChannel(
  redis: RedisClient,
  channel: string,
  onMessage: (message: string) => void,
): Promise<StopWatching> {
  const subscriber: RedisClient = redis.isCluster
    ? (redis as Cluster).duplicate()
    : (redis as Redis).duplicate({ autoResubscribe: false });
  // The connection it was made from goes to the same server and reports its troubles; a second voice adds nothing.
  subscriber.on('error', () => {});
  subscriber.on('message', (_channel: string, message: string) => notifyWatcher(onMessage, message));
  try {
    await subscriber.subscribe(channel);
  } catch (error) {
    await closeRedis(subscriber);
    throw error;
  }
  if (!redis.isCluster) listenAgain(subscriber as Redis, channel);
  return () => closeRedis(subscriber);
}

/**
 * At each new connection. ioredis would do it too, but without a handler for a server that doesn't answer in time: an
 * unhandled rejection, which ends the process.
 */
export function listenAgain(subscriber: Redis, channel: string): void {
  const retry = () => {
    if (subscriber.status === 'ready') subscriber.disconnect(true);
  };
  subscriber.on('ready', () => void subscriber.subscribe(channel).catch(retry));
}
