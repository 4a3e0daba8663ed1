import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

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
