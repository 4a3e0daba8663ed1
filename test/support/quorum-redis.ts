import type { LeaseObserver } from '@fencepost/lease';
import { connectQuorum, type ConnectQuorumOptions, type RedisQuorum } from '@fencepost/lease/quorum';
import { freshPrefix, privateRedis } from './redis.js';
import type { PrivateRedis } from './redis.js';

/** A server that forgets nothing may vote as soon as it is up. */
export const KEEPS_WRITES = { appendonly: 'yes', appendfsync: 'always' };

export interface Servers {
  readonly all: readonly PrivateRedis[];
  readonly urls: readonly string[];
  readonly stop: () => Promise<void>;
}

export async function servers(size: number, settings: Record<string, string> = KEEPS_WRITES): Promise<Servers> {
  const all = await Promise.all(Array.from({ length: size }, () => privateRedis(settings)));
  return {
    all,
    urls: all.map(({ url }) => url),
    stop: async () => void (await Promise.all(all.map((server) => server.stop()))),
  };
}

/** The processes of one test, all of which use one key space. */
export function quorumClients(defaults: Partial<ConnectQuorumOptions> = {}): {
  readonly connect: (urls: readonly string[], options?: Partial<ConnectQuorumOptions>) => Promise<RedisQuorum>;
  readonly close: () => Promise<void>;
} {
  const prefix = freshPrefix();
  const open: RedisQuorum[] = [];
  return {
    connect: async (urls, options = {}) => {
      const fixed = { prefix, tenant: 'default', commandTimeoutMs: 1_000, longestTtlMs: 60_000 };
      const quorum = await connectQuorum({ urls, ...fixed, ...defaults, ...options });
      open.push(quorum);
      return quorum;
    },
    close: async () => void (await Promise.all(open.splice(0).map((quorum) => quorum.close()))),
  };
}

/** What became of the health of each node, as it was told last. */
export function healthBook(): { readonly observe: LeaseObserver; readonly healthy: Map<string, boolean> } {
  const healthy = new Map<string, boolean>();
  const observe: LeaseObserver = (event) => {
    if (event.name === 'node.health') healthy.set(event.node, event.healthy);
  };
  return { observe, healthy };
}
