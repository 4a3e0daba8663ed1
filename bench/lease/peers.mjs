import { Redis } from 'ioredis';
import { QUORUM_TTL_MS, TTL_MS } from './settings.mjs';

/** Each asks once and doesn't wait, so that a contender that fails is told so at once. */
export async function openRedlock4({ urls }) {
  const { default: Redlock } = await import('redlock4');
  const clients = urls.map((url) => new Redis(url));
  const redlock = new Redlock(clients, { retryCount: 0 });
  return {
    tryOnce: (_who, resource) => redlock.lock(resource, ttlOn(urls)).catch(refused('LockError')),
    release: (lock) => lock.unlock(),
    close: () => clients.forEach((client) => client.disconnect()),
  };
}

export async function openRedlock5({ urls }) {
  const { default: Redlock } = await import('redlock5');
  const clients = urls.map((url) => new Redis(url));
  const redlock = new Redlock(clients, { retryCount: 0 });
  return {
    tryOnce: (_who, resource) => redlock.acquire([resource], ttlOn(urls)).catch(refused('ExecutionError')),
    release: (lock) => lock.release(),
    close: () => clients.forEach((client) => client.disconnect()),
  };
}

/** The leanest of its modes. A lock of it is for one key, so there is one per key, made when it is first asked for. */
export async function openRedlockUniversal({ urls }) {
  const { IoredisAdapter, createLock, createRedlock } = await import('redlock-universal');
  const clients = urls.map((url) => new Redis(url));
  const adapters = clients.map((client) => new IoredisAdapter(client));
  const settings = { ttl: ttlOn(urls), retryAttempts: 0 };
  const lockOf = (key) =>
    adapters.length === 1
      ? createLock({ ...settings, key, adapter: adapters[0], performance: 'lean' })
      : createRedlock({ ...settings, key, adapters });
  const locks = new Map();
  return {
    async tryOnce(_who, resource) {
      if (!locks.has(resource)) locks.set(resource, lockOf(resource));
      const lock = locks.get(resource);
      const handle = await lock.acquire().catch(refused('LockAcquisitionError'));
      return handle && { lock, handle };
    },
    release: ({ lock, handle }) => lock.release(handle),
    close: () => clients.forEach((client) => client.disconnect()),
  };
}

function ttlOn(urls) {
  return urls.length === 1 ? TTL_MS : QUORUM_TTL_MS;
}

/** "Somebody else has it" is an error with them; any other would be measured as a very quick refusal. */
function refused(name) {
  return (error) => {
    if (error.name === name) return null;
    throw error;
  };
}
