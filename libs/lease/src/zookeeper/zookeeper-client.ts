import { sleep } from '../base/clock.js';
import { Gate } from '../base/gate.js';
import { NEW_SESSION, ZookeeperConnection } from './zookeeper-connection.js';
import type { Change, Session } from './zookeeper-connection.js';
import { ZookeeperError, isPassing } from './zookeeper-error.js';
import { zookeeperSettings } from './zookeeper-options.js';
import type { ServerAddress, ZookeeperOptions, ZookeeperSettings } from './zookeeper-options.js';

/** One server of the ensemble, for the time of one attempt. */
export interface ZookeeperServer {
  /** A connection that all calls share, for what needs no session of its own. */
  shared(): Promise<ZookeeperConnection>;
  /** Opens or continues a session for the time of `act`, and leaves it open. */
  inSession<T>(session: Session, act: (connection: ZookeeperConnection) => Promise<T>): Promise<T>;
  /** A connection of the caller's own, who closes it. */
  open(session: Session, onChange?: (change: Change) => void): Promise<ZookeeperConnection>;
}

/** ZooKeeper lets 60 connections in from one host by default (`maxClientCnxns`), and other processes may be on ours. */
const SESSIONS_AT_ONCE = 16;
/** An election takes about a second, without a leader meanwhile. */
const PAUSE_MS = 50;
const SHARED_TIMEOUT_MS = 15_000;

/**
 * ZooKeeper 3.6 or newer, by its own protocol.
 *
 * The client for Node, `node-zookeeper-client`, can't keep leases: why is in `docs/adr/0008-own-zookeeper-client.md`.
 */
export class ZookeeperClient {
  readonly settings: ZookeeperSettings;
  readonly #patienceMs: number;
  readonly #gate = new Gate(SESSIONS_AT_ONCE);
  #preferred = 0;
  #shared: Promise<ZookeeperConnection> | undefined;
  #usedAt = 0;

  /** @throws {SetupError} */
  constructor(options: ZookeeperOptions) {
    this.settings = zookeeperSettings(options);
    // A server that hangs may not use up the whole call: there is time left to ask another one, or the same one again.
    this.#patienceMs = this.settings.timeoutMs / Math.max(2, this.settings.servers.length);
  }

  /**
   * Lets `flow` ask one server, and all of it another one when that fails, until the time is up.
   *
   * Whatever was asked may have been done although no answer came, and may still be done later: a flow has to be one that
   * can begin anew, and compares before it writes.
   * @throws {ZookeeperError} the last failure, or what ZooKeeper refused
   */
  async ask<T>(flow: (server: ZookeeperServer) => Promise<T>): Promise<T> {
    const over = new AbortController();
    const end = () => over.abort();
    const cancel = this.settings.clock.after(this.settings.timeoutMs, end);
    try {
      return await Promise.race([this.#askInTurn(flow, over.signal), this.#lateness(over.signal)]);
    } finally {
      cancel();
      end();
    }
  }

  #lateness(over: AbortSignal): Promise<never> {
    const { timeoutMs } = this.settings;
    return new Promise((_, reject) => {
      const late = () => reject(new ZookeeperError(`ZooKeeper did not answer in time: ${timeoutMs} ms.`));
      over.addEventListener('abort', late);
    });
  }

  async #open(
    { host, port }: ServerAddress,
    session: Session,
    onChange?: (change: Change) => void,
  ): Promise<ZookeeperConnection> {
    const { connect, clock, user } = this.settings;
    const connection = new ZookeeperConnection({
      ...{ socket: connect({ host, port }), name: `ZooKeeper at ${host}:${port}`, clock, user },
      patienceMs: this.#patienceMs,
      ...(onChange ? { onChange } : {}),
    });
    try {
      await connection.hello(session);
      return connection;
    } catch (error) {
      connection.leave();
      throw error;
    }
  }

  async #askInTurn<T>(flow: (server: ZookeeperServer) => Promise<T>, over: AbortSignal): Promise<T> {
    const { servers, clock } = this.settings;
    for (let attempt = 1; ; attempt += 1) {
      const index = this.#preferred;
      try {
        return await flow(this.#server(index));
      } catch (error) {
        if (!isPassing(error) || over.aborted) throw error;
        this.#moveOn(index);
        if (attempt % servers.length === 0) await sleep(clock, PAUSE_MS, over);
        if (over.aborted) throw error;
      }
    }
  }

  /** Of many calls that fail at once the first one moves on, or two would come back to where they were. */
  #moveOn(index: number): void {
    if (this.#preferred !== index) return;
    this.#preferred = (index + 1) % this.settings.servers.length;
    this.#shared?.then((connection) => connection.closeSession()).catch(() => {});
    this.#shared = undefined;
  }

  #server(index: number): ZookeeperServer {
    const server = this.settings.servers[index] ?? { host: '', port: 0 };
    return {
      shared: () => this.#share(server),
      open: (session, onChange) => this.#open(server, session, onChange),
      inSession: (session, act) =>
        this.#gate.through(async () => {
          const connection = await this.#open(server, session);
          try {
            return await act(connection);
          } finally {
            connection.leave();
          }
        }),
    };
  }

  /** One that was idle for long is left to the server, which ends it with its session. */
  #share(server: ServerAddress): Promise<ZookeeperConnection> {
    const now = this.settings.clock.monotonic();
    if (now - this.#usedAt > SHARED_TIMEOUT_MS / 3) this.#shared = undefined;
    this.#usedAt = now;
    this.#shared ??= this.#openShared(server);
    return this.#shared;
  }

  #openShared(server: ServerAddress): Promise<ZookeeperConnection> {
    const opening = this.#open(server, { ...NEW_SESSION, timeoutMs: SHARED_TIMEOUT_MS });
    const forget = () => {
      if (this.#shared === opening) this.#shared = undefined;
    };
    opening.then((connection) => connection.gone.addEventListener('abort', forget), forget);
    return opening;
  }
}
