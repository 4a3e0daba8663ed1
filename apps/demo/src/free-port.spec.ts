import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from './free-port.js';
import { isReady } from './is-ready.js';

const servers: ReturnType<typeof createServer>[] = [];

async function serve(status: number | null): Promise<number> {
  const server = createServer((_request, response) => {
    if (status !== null) response.writeHead(status).end('{}');
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

describe('a free port', () => {
  it('is the next one when somebody listens on the first, or it is spoken for', async () => {
    const port = await serve(200);
    const next = await freePort(port, new Set());
    expect(next).toBeGreaterThan(port);
    expect(await freePort(port, new Set([next]))).toBeGreaterThan(next);
  });

  it('is refused with a sentence when there is none', async () => {
    const all = new Set(Array.from({ length: 10 }, (_, n) => 65_526 + n));
    await expect(freePort(65_526, all)).rejects.toThrow(/Expected a free port from 65526 upwards/);
  });
});

describe('a pod is ready', () => {
  it('when it answers 200, and not when it answers anything else', async () => {
    expect(await isReady(await serve(200))).toBe(true);
    expect(await isReady(await serve(503))).toBe(false);
  });

  it('not when nobody listens, or nobody answers within a second', async () => {
    expect(await isReady(await serve(null))).toBe(false);
    expect(await isReady(await freePort(40_000, new Set()))).toBe(false);
  });
});
