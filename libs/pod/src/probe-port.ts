import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Address } from './refusal.js';

/**
 * Tries whether the pod will be able to listen, before it has begun anything: a worker that is refused its port only after
 * it took its first runs would leave them to expire.
 * @throws what listening throws, such as EADDRINUSE
 */
export async function probePort({ host, port }: Address): Promise<void> {
  const probe = createServer().listen(port, host);
  await once(probe, 'listening');
  const closed = once(probe, 'close');
  probe.close();
  await closed;
}
