import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Leases } from '@fencepost/lease';
import { processIdentity } from '@fencepost/lease/internal';
import { connectQuorum } from '@fencepost/lease/quorum';
import { RedisLeaseStore } from '@fencepost/lease/redis';
import { Redis } from 'ioredis';
import { CONTENDERS, QUORUM_TTL_MS, TTL_MS } from './settings.mjs';

/** The public API, on the same plain connection as the others; each contender is a `Leases` of its own. */
export function openFencepost({ urls, prefix }) {
  const redis = new Redis(urls[0]);
  const store = new RedisLeaseStore({ redis, prefix, tenant: 'bench' });
  const leases = Array.from({ length: CONTENDERS }, () => new Leases({ store, ttl: TTL_MS }));
  return {
    tryOnce: (who, resource) => leases[who].tryAcquire(resource),
    release: (lease) => lease.release(),
    async manyHeld(resources) {
      const held = await Promise.all(resources.map((resource) => leases[0].tryAcquire(resource)));
      return async () => countOf(await leases[0].renewMany(held));
    },
    close: async () => {
      await Promise.all(leases.map((one) => one.close()));
      redis.disconnect();
    },
  };
}

/** Only the store: what the keeper's bookkeeping adds is then seen beside it. */
export function openStore({ urls, prefix }) {
  const redis = new Redis(urls[0]);
  const store = new RedisLeaseStore({ redis, prefix, tenant: 'bench' });
  return {
    async manyHeld(resources) {
      const holder = processIdentity();
      const terms = resources.map((resource) => ({ resource, nonce: randomUUID() }));
      await Promise.all(terms.map((term) => store.acquire({ ...term, holder, ttlMs: TTL_MS, floor: 0 })));
      return async () => countOf(await store.renew(terms, TTL_MS));
    },
    close: () => redis.disconnect(),
  };
}

export async function openQuorum({ urls, prefix }) {
  const quorum = await connectQuorum({
    urls,
    prefix,
    tenant: 'bench',
    commandTimeoutMs: 1_000,
    longestTtlMs: QUORUM_TTL_MS,
  });
  const leases = new Leases({ store: quorum.store, ttl: QUORUM_TTL_MS });
  await untilNodesVote(leases);
  return {
    tryOnce: (_who, resource) => leases.tryAcquire(resource),
    release: (lease) => lease.release(),
    close: async () => {
      await leases.close();
      await quorum.close();
    },
  };
}

/** Servers that have just begun don't vote yet: they could have forgotten a term. */
async function untilNodesVote(leases) {
  for (;;) {
    const lease = await leases.tryAcquire('a-first-one').catch(() => null);
    if (lease) return lease.release();
    await pause(100);
  }
}

function countOf(answers) {
  return answers.filter(Boolean).length;
}
