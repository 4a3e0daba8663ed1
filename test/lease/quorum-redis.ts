import type { LeaseObserver } from '@fencepost/lease';
import { connectQuorum, type ConnectQuorumOptions, type RedisQuorum } from '@fencepost/lease/quorum';
import { freshPrefix, privateRedis, type PrivateRedis } from '../support/redis.js';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

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

export interface QuorumProxy {
  readonly url: string;
  /** Every reply comes so much later, milliseconds. */
  delayReplies(ms: number): void;
  /** From now on nothing gets through and nobody is told, as when a cable is cut. */
  cut(): void;
  /** What comes from now on gets through; what came meanwhile is lost, with its connections. */
  heal(): void;
  readonly close: () => Promise<void>;
}

/** The way from one client to one Redis. */
export async function quorumProxy(redisUrl: string): Promise<QuorumProxy> {
  const { hostname, port } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let isCut = false;
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    track(client, sockets);
    if (isCut) return;
    const upstream = connect(Number(port), hostname);
    track(upstream, sockets);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.on('data', (asked) => isCut || upstream.write(asked));
    upstream.on('data', (reply) => {
      if (delayMs === 0) return void (isCut || client.write(reply));
      setTimeout(() => isCut || client.destroyed || client.write(reply), delayMs).unref();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delayReplies: (ms) => void (delayMs = ms),
    cut: () => void (isCut = true),
    heal: () => {
      isCut = false;
      endAll();
    },
    close: async () => {
      endAll();
      server.close();
      await once(server, 'close');
    },
  };
}

function track(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  // A destroyed counterpart is this proxy's purpose, not a failure.
  socket.on('error', () => {});
}
