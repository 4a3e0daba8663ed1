import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

/** One request as it came. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Somebody outside who is told of what happens. */
export interface Receiver {
  readonly port: number;
  readonly url: string;
  readonly received: Received[];
  /** Answers the next requests with these. */
  next(...statuses: number[]): void;
}

/** Receivers of a file's tests, on loopback. */
export function useReceivers(): () => Promise<Receiver> {
  const servers: Server[] = [];
  afterEach(() =>
    Promise.all(
      servers.splice(0).map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    ),
  );
  return async () => {
    const [received, statuses]: [Received[], number[]] = [[], []];
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        );
        const { method = '', url: path = '' } = request;
        received.push({ method, path, headers, body: Buffer.concat(parts).toString() });
        response.writeHead(statuses.shift() ?? 204).end();
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { port, url: `http://127.0.0.1:${port}`, received, next: (...more) => void statuses.push(...more) };
  };
}
