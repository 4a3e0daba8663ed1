import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { refuseExposure } from './exposure.js';

async function listening(host: string): Promise<string> {
  const server = createServer();
  refuseExposure(server);
  const closed = new Promise((resolve) => server.once('close', resolve));
  const heard = await new Promise<string>((resolve) => {
    server.once('error', ({ message }) => resolve(message));
    server.once('listening', () => resolve('listens'));
    server.listen(0, host);
  });
  if (heard === 'listens') server.close();
  await closed;
  return heard;
}

it('a server that others can reach is stopped with a sentence, one for this machine is not', async () => {
  expect(await listening('0.0.0.0')).toMatch(/^ConsoleModule needs "auth" on the address 0\.0\.0\.0/);
  expect(await listening('127.0.0.1')).toBe('listens');
});
