import { Cluster, Redis } from 'ioredis';
import type { Command, RedisOptions } from 'ioredis';

export type ClusterSettings = NonNullable<ConstructorParameters<typeof Cluster<'legacy'>>[1]>;

type Stream = Parameters<Redis['sendCommand']>[1];

/** One server, or the primary that sentinels name. */
export class SingleRedis extends Redis {
  /**
   * A command that has timed out is not sent again after an interruption: an acquire that nobody waits for any more would
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

/** A cluster that bounds also what it holds back: while it looks for its nodes ioredis lets commands wait for ever. */
export class BoundedCluster extends Cluster {
  constructor(
    private readonly addresses: readonly { host: string; port: number }[],
    private readonly settings: ClusterSettings,
    /** May be changed; goes for what is sent from then on. */
    public limitMs: number,
  ) {
    super([...addresses], settings);
  }

  override sendCommand(command: Command, stream?: Stream, node?: unknown): unknown {
    command.setTimeout(this.limitMs);
    return super.sendCommand(command, stream, node);
  }

  override duplicate(): Cluster<never> {
    return new BoundedCluster(this.addresses, this.settings, this.limitMs) as unknown as Cluster<never>;
  }
}
