import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { sleep, systemClock } from './clock.js';
import type { Clock } from './clock.js';
import { SetupError } from './errors.js';
import { isRedisUrl, redactUrl } from './redis-address.js';
import { checkServer } from './redis-server-check.js';
import { describeFailure } from './redis-failure.js';
import type { RedisClient } from './redis-script.js';
import { throttled } from './throttle.js';

export interface ConnectOptions {
  /** `redis://` or `rediss://`, with user, password and database where needed. */
  readonly url: string;
  /** No command waits longer, whether the server is frozen, slow or gone. */
  readonly commandTimeoutMs: number;
  /** What `CLIENT LIST` shows for this connection. */
  readonly name: string;
  /** Receives a line at the first connection error, then at most one every 5 s. */
  readonly onTrouble?: (message: string) => void;
  readonly clock?: Clock;
  /** From 0 up to 1. Spreads the reconnections of many pods after an outage they share. */
  readonly random?: () => number;
}

const STARTUP_MS = 5_000;
const TROUBLE_WINDOW_MS = 5_000;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Opens a connection that is known to work: it has answered, its version is known, and it doesn't evict.
 *
 * Fails fast while it starts; once it has been connected it comes back by itself for as long as the process lives.
 * @throws {SetupError} one sentence on what to change; no socket is left open then
 */
export async function connectRedis(options: ConnectOptions): Promise<Redis> {
  const { onTrouble = () => {}, clock = systemClock } = options;
  const state: Startup = { started: false, failures: [] };
  const redis = new Redis(checkUrl(options.url), redisOptions(options, state));
  const report = throttled(onTrouble, { clock, windowMs: TROUBLE_WINDOW_MS });
  redis.on('error', (error: Error) => {
    if (state.started) report(`Redis at ${redactUrl(options.url)}: ${error.message}`);
    else state.failures.push(error);
  });
  try {
    await withinStartup(clock, open(redis, state, options));
    return redis;
  } catch (error) {
    await closeRedis(redis);
    if (error instanceof SetupError) throw error;
    // No `cause`: ioredis keeps a failed command's arguments on its error, and for AUTH that is the password.
    throw new SetupError(describeFailure(redactUrl(options.url), state.failures[0] ?? error));
  }
}

interface Startup {
  started: boolean;
  readonly failures: Error[];
}

async function open(redis: Redis, startup: Startup, { url, commandTimeoutMs }: ConnectOptions): Promise<void> {
  await redis.connect();
  checkServer(await redis.info(), redactUrl(url));
  // A failed SELECT is only emitted, and the connection would go on with database 0.
  if (startup.failures[0]) throw startup.failures[0];
  redis.options.commandTimeout = commandTimeoutMs;
  startup.started = true;
}

function redisOptions(options: ConnectOptions, startup: Startup): Omit<RedisOptions, 'replyMapping'> {
  const { random = Math.random } = options;
  return {
    lazyConnect: true,
    connectionName: options.name,
    // Until the server is known: a process that starts is busy with itself, and may read an answer late that came in time.
    commandTimeout: Math.max(options.commandTimeoutMs, STARTUP_MS),
    connectTimeout: STARTUP_MS,
    // `disconnect` is polite for this long and then destroys the socket; a frozen server never closes its end.
    disconnectTimeout: 200,
    maxLoadingRetryTime: 500,
    // Unanswered commands are sent again after one short interruption. After that they are dropped: most have timed out
    // by then, and an acquire that nobody waits for any more would only block the resource.
    maxRetriesPerRequest: 2,
    retryStrategy: (times) => (startup.started ? pauseMs(times) * (0.5 + random() / 2) : null),
    // A demoted primary keeps its connections open and refuses every write; the next one has to be looked up again.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  };
}

function pauseMs(times: number): number {
  return Math.min(100 * 2 ** Math.min(times - 1, 10), LONGEST_PAUSE_MS);
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

/** Closes at once and resolves when the socket is gone; unanswered commands reject. Closing twice does nothing. */
export async function closeRedis(redis: RedisClient): Promise<void> {
  if (redis.status === 'end') return;
  // Between two attempts there is no socket whose end ioredis could tell us about.
  const ended =
    redis.status === 'reconnecting' ? undefined : new Promise<void>((resolve) => redis.once('end', resolve));
  redis.disconnect();
  await ended;
}

function checkUrl(url: string): string {
  if (isRedisUrl(url)) return url;
  throw new SetupError(
    `Expected a Redis address such as redis://localhost:6379, got ${JSON.stringify(redactUrl(url))}.`,
  );
}
