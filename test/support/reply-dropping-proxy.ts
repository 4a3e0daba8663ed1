import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface ReplyDroppingProxy {
  readonly url: string;
  /** How many replies got lost. */
  readonly dropped: number;
  /** The next request reaches the server; its reply gets lost, with the connection. */
  dropNextReply(): void;
  close(): Promise<void>;
}

/** Stands between a client and `redisUrl` and loses a reply when told to, as a network does at the worst moment. */
export async function replyDroppingProxy(redisUrl: string): Promise<ReplyDroppingProxy> {
  const { hostname, port } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let armed = false;
  let dropped = 0;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) track(socket, sockets);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.pipe(upstream);
    upstream.on('data', (reply) => {
      if (!armed) return void client.write(reply);
      armed = false;
      dropped += 1;
      client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get dropped() {
      return dropped;
    },
    dropNextReply: () => {
      armed = true;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
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
