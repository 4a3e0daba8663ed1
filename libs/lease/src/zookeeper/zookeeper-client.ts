import { Gate } from '../base/gate.js';
import { InTurn } from '../base/in-turn.js';
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
  readonly #turns: InTurn;
  #shared: Promise<ZookeeperConnection> | undefined;
  #usedAt = 0;

  /** @throws {SetupError} */
  constructor(options: ZookeeperOptions) {
    this.settings = zookeeperSettings(options);
    const { servers, clock, timeoutMs } = this.settings;
    const late = () => new ZookeeperError(`ZooKeeper did not answer in time: ${timeoutMs} ms.`);
    const onMoveOn = () => this.#forgetShared();
    this.#turns = new InTurn({ servers: servers.length, clock, timeoutMs, isPassing, late, onMoveOn });
    // A server that hangs may not use up the whole call: there is time left to ask another one, or the same one again.
    this.#patienceMs = timeoutMs / Math.max(2, servers.length);
  }

  /**
   * Lets `flow` ask one server, and all of it another one when that fails.
   * @throws {ZookeeperError} the last failure, or what ZooKeeper refused
   */
  ask<T>(flow: (server: ZookeeperServer) => Promise<T>): Promise<T> {
    return this.#turns.ask((index) => flow(this.#server(index)));
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

  #forgetShared(): void {
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
