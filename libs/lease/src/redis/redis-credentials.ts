import type { Redis } from 'ioredis';
import { sleep, type CancelTimer, type Clock } from '../base/clock.js';
import { SetupError } from '../base/errors.js';

/** The user and the password of the connections that are opened from now on. */
export interface RedisCredentials {
  /** Default: the server's user `default`. */
  readonly username?: string;
  readonly password: string;
  /** When the server stops accepting them. The function is called again before that, and open connections are authenticated anew. */
  readonly expiresAt?: Date;
}

/** Called before each new connection, and again before what it returned expires. */
export type CredentialsSource = () => RedisCredentials | Promise<RedisCredentials>;

export interface RotatingCredentialsDeps {
  readonly clock: Clock;
  /** Receives a sentence about each failure; the credentials known so far stay in use. */
  readonly report: (message: string) => void;
}

/** How long the function may take. */
const MAX_ANSWER_MS = 5_000;
/** A renewal begins after this part of the remaining time, and another follows a failed one. */
const RENEWED_AFTER = 0.75;
const MIN_PAUSE_MS = 1_000;

const CLOSED = 'Connection is closed.';

/**
 * Credentials that change while connections are open: a rotated password, another user, a token that expires. ioredis takes texts
 * only, and reads them when a connection begins, so each connection waits for an answer of the function first.
 */
export class RotatingCredentials {
  #asking: Promise<RedisCredentials> | undefined;
  #last: RedisCredentials | undefined;
  #cancelRenewal: CancelTimer = () => {};
  readonly #open = new Set<Redis>();
  readonly #connecting = new Map<Redis, { readonly done: Promise<void>; isAbandoned: boolean }>();

  constructor(
    private readonly source: CredentialsSource,
    private readonly deps: RotatingCredentialsDeps,
  ) {}

  /** Connections that ask at the same time share an answer. While the function fails, the last answer stays in use. */
  async current(): Promise<RedisCredentials> {
    try {
      return await this.#ask();
    } catch (error) {
      if (this.#last === undefined) throw error;
      this.deps.report((error as Error).message);
      return this.#last;
    }
  }

  /** Connects with the credentials of this moment. ioredis asks to connect for each command that is sent before. */
  connect(redis: Redis, open: () => Promise<void>): Promise<void> {
    const under = this.#connecting.get(redis);
    if (under && !under.isAbandoned) return under.done;
    const connecting = { isAbandoned: false, done: Promise.resolve() };
    // Also after a failure: the next attempt to connect asks again.
    const asked = this.current().finally(() => {
      if (this.#connecting.get(redis) === connecting) this.#connecting.delete(redis);
    });
    connecting.done = asked.then((credentials) => {
      // ioredis would connect what was closed meanwhile.
      if (connecting.isAbandoned) throw new Error(CLOSED);
      Object.assign(redis.options, authOf(credentials));
      this.follow(redis);
      return open();
    });
    this.#connecting.set(redis, connecting);
    // Commands that are sent before wait for the database of a connection that has begun.
    if (!Reflect.get(redis, 'condition'))
      Reflect.set(redis, 'condition', { select: redis.options.db, subscriber: false });
    return connecting.done;
  }

  /** The connection is closed for good, perhaps before its credentials are known. */
  abandon(redis: Redis): void {
    const connecting = this.#connecting.get(redis);
    if (connecting) connecting.isAbandoned = true;
  }

  /** Authenticates this connection anew before its credentials expire, until it ends. */
  follow(redis: Redis): void {
    if (this.#open.has(redis)) return;
    this.#open.add(redis);
    redis.once('end', () => {
      this.#open.delete(redis);
      if (this.#open.size === 0) this.#cancelRenewal();
    });
    this.#planRenewal();
  }

  #ask(): Promise<RedisCredentials> {
    this.#asking ??= this.#answer().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #answer(): Promise<RedisCredentials> {
    const answered = new AbortController();
    const late = sleep(this.deps.clock, MAX_ANSWER_MS, answered.signal).then(() => {
      if (!answered.signal.aborted) throw new Error(`it did not answer within ${MAX_ANSWER_MS / 1_000} s`);
    });
    try {
      const given = await Promise.race([Promise.resolve().then(this.source), late]);
      this.#last = checked(given as RedisCredentials);
      this.#planRenewal();
      return this.#last;
    } catch (error) {
      if (error instanceof SetupError) throw error;
      throw new SetupError(`The function in "credentials" failed: ${messageOf(error)}.`, { cause: error });
    } finally {
      answered.abort();
      late.catch(() => {});
    }
  }

  #planRenewal(): void {
    this.#cancelRenewal();
    const { expiresAt } = this.#last ?? {};
    if (expiresAt === undefined || this.#open.size === 0) return;
    const remainingMs = expiresAt.getTime() - this.deps.clock.now();
    const pauseMs = Math.max(MIN_PAUSE_MS, remainingMs * RENEWED_AFTER);
    this.#cancelRenewal = this.deps.clock.after(pauseMs, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    try {
      const fresh = await this.#ask();
      await Promise.all([...this.#open].map((redis) => authenticate(redis, fresh)));
    } catch (error) {
      // The connections stay authenticated until the old credentials expire.
      this.deps.report(messageOf(error));
    }
    if (this.#last) this.#planRenewal();
  }
}

/** Sends them on an open connection; one that can't send them is opened again. */
async function authenticate(redis: Redis, credentials: RedisCredentials): Promise<void> {
  const { username, password } = authOf(credentials);
  Object.assign(redis.options, { username, password });
  if (redis.status !== 'ready') return;
  if (redis.mode === 'subscriber') redis.disconnect(true);
  else await redis.auth(username, password);
}

/** As ioredis has them among its options. */
export function authOf({ username = 'default', password }: RedisCredentials) {
  return { username, password };
}

function checked(given: Partial<RedisCredentials> | null | undefined): RedisCredentials {
  const { username, password, expiresAt } = given ?? {};
  const isName = username === undefined || typeof username === 'string';
  const isTime = expiresAt === undefined || (expiresAt instanceof Date && !Number.isNaN(expiresAt.getTime()));
  if (isName && isTime && typeof password === 'string') return given as RedisCredentials;
  const wrong = typeof password !== 'string' ? 'password' : isName ? 'expiresAt' : 'username';
  const expected = '{ password }, with "username" as a text and "expiresAt" as a valid Date where needed';
  throw new SetupError(`Expected the function in "credentials" to return ${expected}; its "${wrong}" is not valid.`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
