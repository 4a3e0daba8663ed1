import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * What becomes of a message that ends with COMMIT: `instead`: it never arrives, and the server hears that the client is gone. `silently`: it never
 * arrives, and the server hears nothing. `later`: the client is cut off, and it arrives when `release` is called. `held`: it
 * arrives, with nobody cut off, when `release` is called. `reply`: it arrives, and its reply doesn't.
 */
export type CommitFault = 'instead' | 'silently' | 'later' | 'held' | 'reply';

export interface CommitProxy {
  /** Of the same database, through the proxy. */
  readonly url: string;
  /** How many commits got lost, were cut off or held. */
  readonly faults: number;
  /** What the server has said to clients that were cut off. */
  readonly unheard: string;
  /** The next COMMIT meets that; those after it get through. */
  arm(fault: CommitFault): void;
  /** Lets a COMMIT that was held back arrive. */
  release(): void;
  /** From now on nobody gets through any more. */
  refuse(): void;
  close(): Promise<void>;
}

/** How a message of PostgreSQL's protocol ends whose last statement commits what is open. */
const COMMIT = Buffer.from('; commit\0', 'latin1');

/** Stands between a client and a PostgreSQL, and cuts the connection at the worst moment that there is. */
export async function commitProxy(url: string): Promise<CommitProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let armed: CommitFault | null = null;
  let faults = 0;
  let open = true;
  let release = () => {};
  let unheard = '';

  const server = createServer((client) => {
    if (!open) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) track(socket, sockets);
    let silent = false;
    let replyLost = false;
    const cut = () => {
      silent = true;
      client.destroy();
    };
    client.on('data', (bytes) => {
      if (armed === null || !bytes.includes(COMMIT)) return void upstream.write(bytes);
      const fault = armed;
      [armed, faults] = [null, faults + 1];
      release = () => upstream.write(bytes);
      if (fault === 'silently' || fault === 'later') cut();
      if (fault === 'instead') client.destroy();
      replyLost = fault === 'reply';
      if (replyLost) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (silent) unheard += bytes.toString('latin1');
      else if (replyLost) cut();
      else if (!client.destroyed) client.write(bytes);
    });
    client.on('close', () => {
      if (!silent) upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: url.replace(`:${port}/`, `:${(server.address() as AddressInfo).port}/`),
    get faults() {
      return faults;
    },
    get unheard() {
      return unheard;
    },
    arm: (fault) => {
      armed = fault;
    },
    release: () => release(),
    refuse: () => {
      open = false;
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
  // A connection that breaks is this proxy's purpose, not a failure.
  socket.on('error', () => {});
}
