import { Cluster, Redis } from 'ioredis';
import type { Callback, Command, RedisOptions } from 'ioredis';

export type ClusterSettings = NonNullable<ConstructorParameters<typeof Cluster<'legacy'>>[1]>;

type Stream = Parameters<Redis['sendCommand']>[1];

/** Of what ioredis lets a copy have otherwise. */
type Override = { readonly redisOptions?: Pick<RedisOptions, 'commandTimeout'> } | undefined;

/** One server, or the primary that sentinels name. */
export class SingleRedis extends Redis {
  /**
   * A command that has timed out is not sent again after an interruption: an acquire without a caller would
   * only block its resource. In a pipeline it has to be, because the others are counted with it.
   */
  override sendCommand(command: Command, stream?: Stream): unknown {
    return command.isSettled && !stream ? command.promise : super.sendCommand(command, stream);
  }

  /** Not the patience with a silent server: a copy may wait long for a blocking command. */
  override duplicate<O extends Partial<RedisOptions> | undefined = undefined>(override?: O) {
    return super.duplicate({ socketTimeout: undefined, ...override } as unknown as O);
  }
}

/**
 * A cluster with a timeout for queued commands too, and without a timer once it is closed: ioredis lets commands wait for ever
 * while it discovers nodes, and goes on refreshing its slots for ever if it is closed during a refresh.
 */
export class BoundedCluster extends Cluster {
  private isClosed = false;

  constructor(
    private readonly addresses: readonly { host: string; port: number }[],
    private readonly settings: ClusterSettings,
    /** May be changed; applies to later commands. */
    public limitMs: number,
  ) {
    super([...addresses], settings);
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
