import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.js';
import { JuteReader, JuteWriter, PacketSplitter } from './jute.js';
import { SESSION_EXPIRED, ZookeeperError } from './zookeeper-error.js';
import { AUTHENTICATE, CLOSE_SESSION, OPS } from './zookeeper-operations.js';
import type { Operation } from './zookeeper-operations.js';
import type { ZookeeperUser } from './zookeeper-options.js';

/** What proves to any server that a session is continued by its owner. */
export interface Session {
  readonly id: bigint;
  readonly password: Buffer;
  readonly timeoutMs: number;
}

export interface ConnectionOptions {
  readonly socket: Socket;
  /** For messages. */
  readonly name: string;
  readonly clock: Clock;
  /** How long each reply may take. */
  readonly patienceMs: number;
  readonly user: ZookeeperUser | undefined;
  /** Hears of changes below a watched node. */
  readonly onChange?: (change: Change) => void;
}

export interface Change {
  readonly created: boolean;
  readonly path: string;
}

interface Pending {
  readonly xid: number;
  readonly succeed: (reply: JuteReader) => void;
  readonly fail: (error: ZookeeperError) => void;
}

/** `ConnectRequest` with this id asks for a new session. */
export const NEW_SESSION: Omit<Session, 'timeoutMs'> = { id: 0n, password: Buffer.alloc(16) };

const NOTIFICATION = -1;
const PING = -2;
const AUTHENTICATION = -4;
const NODE_CREATED = 1;

/**
 * One TCP connection to one server, with the one session that it opened or continued. It sends nothing by itself: a session
 * that no caller uses ends. Replies come in the order of the requests.
 */
export class ZookeeperConnection {
  readonly #options: ConnectionOptions;
  readonly #gone = new AbortController();
  readonly #splitter = new PacketSplitter();
  /** Until the session is agreed on, a packet has no header. */
  #onHello: Pending | undefined;
  #pending: Pending[] = [];
  #session: Session | undefined;
  #xid = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket, name } = options;
    // A process that has nothing else to do may end; a pending request has a timer that keeps it.
    socket.unref();
    socket.on('data', (bytes) => this.#receive(bytes));
    socket.on('error', (error) => this.#end(`${name} could not be asked: ${error.message}.`, error));
    socket.on('close', () => this.#end(`${name} closed the connection.`));
  }

  /** Aborts when the connection is over. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get session(): Session {
    if (!this.#session) throw new ZookeeperError(`${this.#options.name} has not opened a session.`);
    return this.#session;
  }

  /**
   * Continues a session, or opens one; both count its timeout from now.
   * @throws {ZookeeperError} with the status `SESSION_EXPIRED` for a session that is over
   */
  async hello({ id, password, timeoutMs }: Session): Promise<void> {
    const { user } = this.#options;
    // The last number is the newest transaction seen: a server that lost its data would refuse who has seen more.
    const hello = new JuteWriter().int(0).long(0n).int(timeoutMs).long(id).bytes(password).bool(false);
    const reply = await this.#send(hello, NOTIFICATION, (pending) => (this.#onHello = pending));
    const session = this.#understood(readSession, reply);
    // Some servers that speak this protocol open a new session in place of the one that they were asked to continue.
    if (session.timeoutMs <= 0 || (id !== NEW_SESSION.id && session.id !== id)) throw this.#refusal(SESSION_EXPIRED);
    this.#session = session;
    if (user) await this.#authenticate(user);
  }

  /** @throws {ZookeeperError} */
  async request<T>({ type, write }: Operation, read: (reply: JuteReader) => T): Promise<T> {
    const xid = (this.#xid = (this.#xid % 0x7f_ff_ff_ff) + 1);
    const out = new JuteWriter().int(xid).int(type);
    write(out);
    return this.#understood(read, await this.#send(out, xid));
  }

  /** Keeps the session for another timeout, as far as this server is concerned. */
  async ping(): Promise<void> {
    await this.#send(new JuteWriter().int(PING).int(OPS.ping), PING);
  }

  /** Ends the connection and leaves the session, which goes on for its timeout. */
  leave(): void {
    this.#end(`The connection to ${this.#options.name} was closed.`);
  }

  /** Ends the session, and whatever is bound to it, with the connection. */
  closeSession(): void {
    const { socket } = this.#options;
    if (socket.writable) socket.write(new JuteWriter().int(0).int(CLOSE_SESSION).packet());
    socket.destroySoon();
    this.#settle(new ZookeeperError(`The session with ${this.#options.name} was closed.`));
  }

  async #authenticate({ name, password }: ZookeeperUser): Promise<void> {
    const out = new JuteWriter().int(AUTHENTICATION).int(AUTHENTICATE);
    await this.#send(out.int(0).text('digest').text(`${name}:${password}`), AUTHENTICATION);
  }

  #send(
    out: JuteWriter,
    xid: number,
    expect: (pending: Pending) => void = (pending) => void this.#pending.push(pending),
  ): Promise<JuteReader> {
    const { socket, clock, patienceMs, name } = this.#options;
    return new Promise((resolve, reject) => {
      if (this.gone.aborted) return reject(new ZookeeperError(`${name} closed the connection.`));
      const cancel = clock.after(patienceMs, () => this.#end(`${name} did not answer in time.`));
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          cancel();
          settle(value);
        };
      expect({ xid, succeed: settled(resolve), fail: settled(reject) });
      socket.write(out.packet());
    });
  }

  #receive(bytes: Buffer): void {
    try {
      for (const packet of this.#splitter.push(bytes)) this.#answer(new JuteReader(packet));
    } catch (error) {
      this.#end(`${this.#options.name} sent something that ZooKeeper doesn't send.`, error);
    }
  }

  #answer(reply: JuteReader): void {
    if (this.#onHello) {
      this.#onHello.succeed(reply);
      this.#onHello = undefined;
      return;
    }
    const xid = reply.int();
    reply.long();
    const status = reply.int();
    if (xid === NOTIFICATION) return this.#notify(reply);
    // Answers to pings and to authentication overtake those to requests.
    const at = this.#pending.findIndex((each) => each.xid === xid);
    const [pending] = at < 0 ? [] : this.#pending.splice(at, 1);
    if (status === 0) pending?.succeed(reply);
    else pending?.fail(this.#refusal(status));
  }

  #notify(event: JuteReader): void {
    const type = event.int();
    event.int();
    this.#options.onChange?.({ created: type === NODE_CREATED, path: event.text() });
  }

  #understood<T>(read: (reply: JuteReader) => T, reply: JuteReader): T {
    try {
      return read(reply);
    } catch (error) {
      if (error instanceof ZookeeperError) throw error;
      const message = `${this.#options.name} sent a reply that ZooKeeper 3.6 or newer doesn't send.`;
      throw new ZookeeperError(message, undefined, { cause: error });
    }
  }

  #refusal(status: number): ZookeeperError {
    return new ZookeeperError(`${this.#options.name} refused with the code ${status}.`, status);
  }

  #end(message: string, cause?: unknown): void {
    if (this.gone.aborted) return;
    this.#options.socket.destroy();
    this.#settle(new ZookeeperError(message, undefined, { cause }));
  }

  #settle(error: ZookeeperError): void {
    this.#gone.abort();
    const open = [this.#onHello, ...this.#pending];
    this.#onHello = undefined;
    this.#pending = [];
    for (const pending of open) pending?.fail(error);
  }
}

/** `ConnectResponse`. */
function readSession(reply: JuteReader): Session {
  reply.int();
  return { timeoutMs: reply.int(), id: reply.long(), password: Buffer.from(reply.bytes()) };
}
