import { Cluster, Redis } from 'ioredis';
import type { Callback, Command, RedisOptions } from 'ioredis';
import { sleep, systemClock } from '../base/clock.js';
import { authOf, type RotatingCredentials } from './redis-credentials.js';

/** Of `SingleRedis`, whose copies have the same credentials. */
export type SingleOptions = Omit<RedisOptions, 'replyMapping'> & { readonly credentials?: RotatingCredentials };

export type ClusterSettings = NonNullable<ConstructorParameters<typeof Cluster<'legacy'>>[1]> & {
  readonly credentials?: RotatingCredentials;
};

export type ClusterNode = ConstructorParameters<typeof Cluster>[0][number];

type Stream = Parameters<Redis['sendCommand']>[1];

/** Of what ioredis lets a copy have otherwise. */
type Override = { readonly redisOptions?: Pick<RedisOptions, 'commandTimeout'> } | undefined;

type Copy<O extends Partial<RedisOptions> | undefined> = ReturnType<typeof Redis.prototype.duplicate<O>>;

/** The retry whose pause a subscriber makes: its messages are hints, and a server refuses many at once after a rotation. */
const SUBSCRIBES_AGAIN = 3;

/** Of ioredis 5, whose commands don't tell. */
const settled = new WeakSet<Command>();

function isSettled(command: Command): boolean {
  if ('isSettled' in command) return command.isSettled;
  const settle = () => settled.add(command);
  if (!settled.has(command)) (command as Command).promise.then(settle, settle);
  return settled.has(command);
}

/** One server, or the primary that sentinels name. */
export class SingleRedis extends Redis {
  /**
   * A command that has timed out is not sent again after an interruption: an acquire without a caller would
   * only block its resource. In a pipeline it has to be, because the others are counted with it.
   */
  override sendCommand(command: Command, stream?: Stream): unknown {
    return !stream && isSettled(command) ? command.promise : super.sendCommand(command, stream);
  }

  /** Waits for the credentials of this moment, where they may change. */
  override connect(callback?: Callback<void>): Promise<void> {
    const credentials = this.credentials();
    return credentials ? credentials.connect(this, () => super.connect()) : super.connect(callback);
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) this.credentials()?.abandon(this);
    super.disconnect(reconnect);
  }

  /** Not the patience with a silent server: a copy may wait long for a blocking command. */
  override duplicate<O extends Partial<RedisOptions> | undefined = undefined>(override?: O): Copy<O> {
    const options = { ...this.options, socketTimeout: undefined, ...override } as SingleOptions;
    return new SingleRedis(options) as never;
  }

  /** Among the options: ioredis connects before a field of this class would be there, and a copy has the same. */
  private credentials(): RotatingCredentials | undefined {
    return (this.options as { readonly credentials?: RotatingCredentials }).credentials;
  }
}

/**
 * A cluster with a timeout for queued commands too, and without a timer once it is closed: ioredis lets commands wait for ever
 * while it discovers nodes, and goes on refreshing its slots for ever if it is closed during a refresh.
 */
export class BoundedCluster extends Cluster {
  declare private connecting: Promise<void> | undefined;
  declare private isClosed: boolean;

  constructor(
    private readonly addresses: readonly ClusterNode[],
    private readonly settings: ClusterSettings,
    /** May be changed; applies to later commands. */
    public limitMs: number,
  ) {
    super([...addresses], settings);
    // A node that refuses them is left out until the slots are read again.
    this.on('node error', (error: Error) => {
      if (/WRONGPASS|NOAUTH/.test(error.message)) void this.authenticateNodes().catch(() => {});
    });
    // A cluster opens the connections to its nodes itself.
    this.on('+node', (node: Redis) => settings.credentials?.follow(node));
    this.resubscribeAfterPause();
  }

  /**
   * A subscriber whose connection has ended gets another one after a pause, with the credentials of that moment. ioredis would take
   * those that a node was connected with, perhaps long ago, and try them without end and without a pause.
   */
  private resubscribeAfterPause(): void {
    const subscriber = Reflect.get(this, 'subscriber') as { onSubscriberEnd: () => void };
    const select = subscriber.onSubscriberEnd;
    let waiting = false;
    subscriber.onSubscriberEnd = () => {
      // Another one may have been selected meanwhile, because a node left: its end must not begin a second series.
      if (this.isClosed || waiting) return;
      waiting = true;
      const pauseMs = this.settings.clusterRetryStrategy?.(SUBSCRIBES_AGAIN) ?? 0;
      void sleep(systemClock, pauseMs)
        .then(() => this.authenticateNodes())
        // Tried all the same: the connection ends then, and the function is asked again.
        .catch(() => {})
        .then(() => {
          waiting = false;
          select();
        });
    };
  }

  override sendCommand(command: Command, stream?: Stream, node?: unknown): unknown {
    command.setTimeout(this.limitMs);
    return super.sendCommand(command, stream, node);
  }

  /**
   * Rejects also when the cluster it found isn't whole and it closes again: ioredis reports its next try to no caller, and a worker
   * that waits for this one would take no job for as long as it has patience.
   */
  override connect(): Promise<void> {
    this.isClosed = false;
    return this.credentials() ? this.connectAuthenticated() : this.connectWhole();
  }

  /** ioredis asks to connect for each command that is sent before. */
  private connectAuthenticated(): Promise<void> {
    this.connecting ??= this.authenticateNodes()
      .finally(() => (this.connecting = undefined))
      .then(() => {
        if (this.isClosed) throw new Error('Connection is closed.');
        return this.connectWhole();
      });
    return this.connecting;
  }

  /** Nodes and subscribers that are connected to from now on are sent the credentials of this moment. */
  private async authenticateNodes(): Promise<void> {
    const credentials = this.credentials();
    if (!credentials) return;
    const pool = Reflect.get(this, 'connectionPool') as { readonly redisOptions: RedisOptions };
    const auth = authOf(await credentials.current());
    // A subscriber is connected as one of the nodes was.
    for (const { options } of [{ options: pool.redisOptions }, ...this.nodes()]) Object.assign(options, auth);
  }

  /** Among the options: a copy connects before it has fields. */
  private credentials(): RotatingCredentials | undefined {
    return (this.options as ClusterSettings).credentials;
  }

  private connectWhole(): Promise<void> {
    return new Promise((resolve, reject) => {
      const onClose = () => reject(new Error('The cluster is not whole'));
      // ioredis itself reports a connection that closes before that.
      const onFound = () => this.once('close', onClose);
      const forget = () => this.off('connect', onFound).off('close', onClose);
      this.once('connect', onFound);
      super.connect().then(resolve, reject).finally(forget);
    });
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) this.isClosed = true;
    super.disconnect(reconnect);
  }

  override refreshSlotsCache(callback?: Callback<void>): void {
    super.refreshSlotsCache((...reply) => {
      // Arms the timer of the next refresh, whatever has happened during this one.
      callback?.(...reply);
      if (this.isClosed) clearTimeout(Reflect.get(this, 'slotsTimer'));
    });
  }

  /**
   * With options for its nodes, and with their `commandTimeout` as the limit of everything that is sent.
   * @param _nodes the addresses stay the same
   */
  override duplicate(_nodes?: unknown, override?: Override): Cluster<never> {
    const { redisOptions: over = {} } = override ?? {};
    const redisOptions = { ...this.settings.redisOptions, ...over };
    const limitMs = over.commandTimeout ?? this.limitMs;
    return new BoundedCluster(this.addresses, { ...this.settings, redisOptions }, limitMs) as unknown as Cluster<never>;
  }
}
