import { SetupError, systemClock, type Clock } from '@fencepost/lease';
import { redisChannel, type KeySpace } from '@fencepost/lease/internal/redis';
import { identifier, type SqlClient, type SqlPool } from '@fencepost/lease/postgres';
import { LEDGER_TIMING, type LedgerTiming } from '../base/ledger-timing.js';
import { borrowConnection, giveBack } from './borrow-connection.js';
import { DEFAULT_SCHEMA, type LedgerSchema, checkLedgerVersion, functionOf } from './postgres-ledger-version.js';
import { askAgain } from './postgres-failure.js';
import { sqlLiteral, sqlValue } from './postgres-value.js';

export interface PostgresLedgerOptions extends KeySpace, LedgerSchema {
  /**
   * A `Pool` of `pg`; stays the caller's to close. Give it a `connectionTimeoutMillis`, a `query_timeout` and a listener for
   * its `error` event.
   */
  readonly pool: SqlPool;
  /**
   * Where transactions of handlers take their connections; default: `pool`. Each keeps one for as long as its handler works:
   * of a pool of the ledger's own size they would leave none for the heartbeats that keep them alive.
   */
  readonly transactions?: SqlPool;
  readonly timing?: Partial<LedgerTiming>;
  /** For the pauses between two attempts to listen again; the ledger goes by the server's clock. */
  readonly clock?: Clock;
}

/** How long a worker waits for a connection, in milliseconds: well below the length of a run lease. */
const PATIENCE_MS = 10_000;

/** What begins new work. Work under way may end when the tables have moved on: its fence still decides. */
const BEGINS: ReadonlySet<string> = new Set(['claim_occurrences', 'trigger_run', 'redeliver_run', 'begin_attempts']);

/** How the parts of the ledger get at its functions. */
export class PostgresLedgerAccess {
  readonly pool: SqlPool;
  readonly transactions: SqlPool;
  /** The deployment and the tenant: the first argument of every function. */
  readonly space: string;
  readonly schema: string;
  readonly timing: LedgerTiming;
  readonly clock: Clock;
  /** How long the pool may take to give a connection to a worker. */
  readonly patienceMs: number;
  #checked: Promise<void> | undefined;
  /** What the last look found wrong with the tables. */
  #refusal: SetupError | undefined;

  /** @throws {SetupError} for a prefix, tenant or schema that can't be one */
  constructor(options: PostgresLedgerOptions, patienceMs: number = PATIENCE_MS) {
    const { pool, transactions = pool, prefix, tenant, schema = DEFAULT_SCHEMA, timing, clock = systemClock } = options;
    this.pool = pool;
    this.transactions = transactions;
    // Refuses a colon in either, with which two pairs of them would be one space.
    redisChannel({ prefix, tenant }, 'ledger');
    this.space = `${prefix}:${tenant}`;
    this.schema = schema;
    identifier(schema);
    this.timing = { ...LEDGER_TIMING, ...timing };
    this.clock = clock;
    this.patienceMs = patienceMs;
  }

  /**
   * One statement that is a transaction of its own, sent again where the server gave it up because of somebody else's.
   * @param args as `sqlValue` takes them: texts, numbers, `null`, lists of texts, and objects as JSON
   * @throws {SetupError} when the ledger's tables are not there, or are of another release
   */
  async call<T>(name: string, args: readonly unknown[]): Promise<T> {
    await this.ready(name);
    return askAgain(() => this.callOn<T>(this.pool, name, args));
  }

  /**
   * The same on a connection that the pool gives in time. What waits longer is never sent: an attempt that begins after its
   * worker has stopped waiting is carried out by nobody.
   * @throws {PoolExhaustedError}, and what the client throws
   */
  async askInTime<T>(name: string, args: readonly unknown[]): Promise<T> {
    await this.ready(name);
    const connection = await borrowConnection(this.pool, this);
    let sound = false;
    try {
      const reply = await askAgain(() => this.callOn<T>(connection, name, args));
      sound = true;
      return reply;
    } finally {
      giveBack(connection, sound);
    }
  }

  /** The same on a connection whose transaction is somebody's own: it fails with it, and commits with it. */
  async callOn<T>(client: SqlClient, name: string, args: readonly unknown[]): Promise<T> {
    const places = args.map((_, n) => `$${n + 1}`).join(', ');
    const text = `select ${identifier(this.schema, functionOf(name)).text}(${places})::text as reply`;
    const { rows } = await client.query({ text, values: args.map(sqlValue) });
    const [{ reply }] = rows as [{ readonly reply: string | null }];
    // Parsed here: whose pool it is may have parsers of their own.
    return (reply === null ? null : JSON.parse(reply)) as T;
  }

  /** A call as a statement without parameters, for a message of several; no list may be among them. */
  statementOf(name: string, args: readonly unknown[]): string {
    return `select ${identifier(this.schema, functionOf(name)).text}(${args.map(sqlLiteral).join(', ')})::text as reply`;
  }

  /**
   * Checks the version of the tables before the first call, and answers from the last check after that.
   * @param name the function that is about to be called
   */
  async ready(name: string): Promise<void> {
    if (this.#refusal && BEGINS.has(name)) throw this.#refusal;
    this.#checked ??= checkLedgerVersion(this.pool, this.schema);
    try {
      await this.#checked;
    } catch (error) {
      // An operator may migrate meanwhile.
      this.#checked = undefined;
      throw error;
    }
  }

  /**
   * Checks the version of the tables now. While this release doesn't work with it nothing new begins here.
   * @throws {SetupError} when it doesn't, and what the pool throws when the server could not be asked
   */
  async checkSchema(): Promise<void> {
    try {
      await checkLedgerVersion(this.pool, this.schema);
      this.#refusal = undefined;
    } catch (error) {
      if (error instanceof SetupError) this.#refusal = error;
      throw error;
    }
  }
}
