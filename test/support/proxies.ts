import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  readonly url: string;
  /** How many connections go through it now. */
  readonly connections: number;
  /**
   * From now on nothing comes through in either direction and nothing is closed, as after a cable was pulled. New
   * connections are taken and stay silent as well.
   */
  swallow(): void;
  /** What is new comes through again. What was swallowed is lost, and connections of before stay silent for ever. */
  heal(): void;
  /** New connections go to another port. */
  retarget(targetPort: number): void;
  close(): Promise<void>;
}

/** Stands between a client and a port of this machine. Cutting it is a network partition that needs no rights. */
export async function tcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let lines = new Set<{ open: boolean }>();
  let silent = false;
  let target = targetPort;

  const server = createServer((client) => {
    const line = { open: !silent };
    const upstream = connect(target, '127.0.0.1');
    lines.add(line);
    client.on('close', () => lines.delete(line));
    for (const socket of [client, upstream]) track(socket, sockets);
    forward(client, upstream, line);
    forward(upstream, client, line);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get connections() {
      return lines.size;
    },
    swallow: () => {
      silent = true;
      for (const line of lines) line.open = false;
    },
    heal: () => {
      silent = false;
      lines = new Set();
    },
    retarget: (next) => void (target = next),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function forward(from: Socket, to: Socket, line: { open: boolean }): void {
  from.on('data', (bytes) => {
    if (line.open) to.write(bytes);
  });
  // On a dead line not even the end of a connection is heard of.
  from.on('end', () => line.open && to.end());
  from.on('close', () => line.open && to.destroy());
}

function track(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  // A connection that breaks is this proxy's purpose, not a failure.
  socket.on('error', () => {});
}

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
