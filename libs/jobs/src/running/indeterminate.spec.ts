import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { EffectUnknownError } from './errors.js';
import { isIndeterminate } from './call-effect.js';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** What `fetch` throws at a server that takes the request, and then does this. */
async function thrownBy(answer: (socket: { destroy(): void }) => void, init: RequestInit = {}): Promise<unknown> {
  server = createServer((request) => answer(request.socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}`, { method: 'POST', ...init }).catch((error: unknown) => error);
}

const coded = (code: string) => Object.assign(new Error('broken'), { code });

describe('an error leaves open whether something has happened', () => {
  it('when the connection breaks after the request', async () => {
    expect(isIndeterminate(await thrownBy((socket) => socket.destroy()))).toBe(true);
  });

  it('when nothing is heard in time', async () => {
    expect(isIndeterminate(await thrownBy(() => {}, { signal: AbortSignal.timeout(20) }))).toBe(true);
  });

  it('when it says so, also as the cause of another', () => {
    const unknown = new EffectUnknownError('nobody knows');
    expect(isIndeterminate(unknown)).toBe(true);
    expect(isIndeterminate(new Error('charging failed', { cause: unknown }))).toBe(true);
  });

  it.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT'])('%s', (code) => {
    expect(isIndeterminate(coded(code))).toBe(true);
    expect(isIndeterminate(new TypeError('fetch failed', { cause: coded(code) }))).toBe(true);
  });
});

describe('an error is an answer', () => {
  it.each([
    ['a refusal', new Error('card declined')],
    ['a name that is not found', coded('ENOTFOUND')],
    ['no error at all', 'ECONNRESET'],
    ['nothing', undefined],
  ])('%s', (_what, error) => {
    expect(isIndeterminate(error)).toBe(false);
  });
});
