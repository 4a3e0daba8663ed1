import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { probePort } from './probe-port.js';

it('a probe refuses a port that somebody has, and leaves one that is free as it was', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  await expect(probePort(address)).rejects.toMatchObject({ code: 'EADDRINUSE' });

  const closed = once(server, 'close');
  server.close();
  await closed;
  await probePort(address);
  await probePort(address);
});
