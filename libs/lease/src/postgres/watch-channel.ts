import { notifyWatcher } from '../store/lease-request.js';
import type { CancelTimer, Clock } from '../base/clock.js';
import type { StopWatching } from '../store/lease-store.js';
import type { SqlConnection, SqlPool } from './sql-client.js';
import { loadStatements } from './sql-statement.js';
import { TEXTS } from '../sql/texts.js';

export interface ChannelWatchOptions {
  readonly pool: SqlPool;
  readonly channel: string;
  readonly clock: Clock;
  readonly onMessage: (message: string) => void;
}

const statements = loadStatements(TEXTS, ['listen-channel']);

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/**
 * Listens to one channel on a connection of its own, and on a new one when that breaks.
 *
 * What is announced meanwhile is lost: a message here is a hint, never the only way to learn something.
 * @throws what the client throws when the first connection can't be had
 */
export async function watchPostgresChannel(options: ChannelWatchOptions): Promise<StopWatching> {
  const watch = new ChannelWatch(options);
  await watch.open();
  return () => watch.stop();
}

class ChannelWatch {
  readonly #options: ChannelWatchOptions;
  readonly #listen: string;
  #connection: SqlConnection | undefined;
  #reopening: Promise<void> = Promise.resolve();
  #cancelPause: CancelTimer = () => {};
  #stopped = false;

  constructor(options: ChannelWatchOptions) {
    this.#options = options;
    this.#listen = statements['listen-channel'].about({ channel: options.channel }).text;
  }

  async open(): Promise<void> {
    const connection = await this.#options.pool.connect();
    this.#connection = connection;
    // Both events report one loss, or only the second does; without a listener the first would end the process.
    connection.on('error', () => this.#lost(connection));
    connection.on('end', () => this.#lost(connection));
    connection.on('notification', ({ payload }) => this.#heard(payload));
    try {
      await connection.query({ text: this.#listen });
    } catch (error) {
      // One that broke meanwhile is replaced already: a second replacement would hold a connection that nobody gives back.
      if (this.#letGo(connection)) throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelPause();
    await this.#reopening;
    if (this.#connection) this.#letGo(this.#connection);
  }

  #heard(payload: string | undefined): void {
    if (!this.#stopped && payload !== undefined) notifyWatcher(this.#options.onMessage, payload);
  }

  #lost(connection: SqlConnection): void {
    if (this.#letGo(connection)) this.#openLater(0);
  }

  /** Closed and not given back: the pool's next user would listen along. */
  #letGo(connection: SqlConnection): boolean {
    if (this.#connection !== connection) return false;
    this.#connection = undefined;
    connection.release(true);
    return true;
  }

  #openLater(tries: number): void {
    if (this.#stopped) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries, 10), MAX_PAUSE_MS);
    this.#cancelPause = this.#options.clock.after(pauseMs, () => {
      this.#reopening = this.open().catch(() => this.#openLater(tries + 1));
    });
  }
}
