import { once } from 'node:events';
import { createServer } from 'node:net';

const HIGHEST = 65_535;

/**
 * The first port from `from` upwards that one may listen on now, on loopback. Somebody else may take it before its
 * user does.
 * @param taken ports that are spoken for
 * @throws {Error} when there is none
 */
export async function freePort(from: number, taken: ReadonlySet<number>): Promise<number> {
  for (let port = from; port <= HIGHEST; port++) {
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  throw new Error(`Expected a free port from ${from} upwards on 127.0.0.1, found none. End a program that has one.`);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(probe, 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
