import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { TTL_MS, QUORUM_TTL_MS } from './settings.mjs';

const lua = (name) => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');

/** What one writes by hand: two scripts on ioredis and a fresh nonce per term, no renewal and no deadline. */
export function openBare({ urls, prefix }) {
  const { redis, ...contender } = bareNode({ url: urls[0], prefix, ttlMs: TTL_MS });
  redis.defineCommand('extend', { lua: lua('extend-leases') });
  return contender;
}

/** The same with the more obvious script to renew many: a GET for each instead of one MGET. */
export function openBareGet({ urls, prefix }) {
  const { redis, ...contender } = bareNode({ url: urls[0], prefix, ttlMs: TTL_MS });
  redis.defineCommand('extend', { lua: lua('extend-each') });
  return contender;
}

function bareNode({ url, prefix, ttlMs }) {
  const redis = new Redis(url);
  redis.defineCommand('take', { lua: lua('take-lease') });
  redis.defineCommand('drop', { lua: lua('drop-lease') });
  const take = async (resource, nonce = randomUUID()) => {
    const lease = `${prefix}:{${resource}}:lease`;
    const fence = await redis.take(2, lease, `${prefix}:{${resource}}:fence`, nonce, ttlMs);
    return fence === null ? null : { lease, nonce, fence };
  };
  return {
    redis,
    take,
    tryOnce: (_who, resource) => take(resource),
    release: ({ lease, nonce }) => redis.drop(1, lease, nonce),
    async manyHeld(resources) {
      const held = await Promise.all(resources.map((resource) => take(resource)));
      const [names, nonces] = [held.map(({ lease }) => lease), held.map(({ nonce }) => nonce)];
      return async () => names.length - (await redis.extend(names.length, ...names, ttlMs, ...nonces)).length;
    },
    close: () => redis.disconnect(),
  };
}

/** The bare script to all nodes at once, done when a majority has granted: the least that any quorum has to wait for. */
export function openBareQuorum({ urls, prefix }) {
  const nodes = urls.map((url) => bareNode({ url, prefix, ttlMs: QUORUM_TTL_MS }));
  const majority = Math.floor(nodes.length / 2) + 1;
  return {
    tryOnce(_who, resource) {
      const nonce = randomUUID();
      return first(
        majority,
        nodes.map((node) => node.take(resource, nonce)),
      );
    },
    release: ([held]) =>
      first(
        majority,
        nodes.map((node) => node.release(held)),
      ),
    close: () => nodes.forEach((node) => node.close()),
  };
}

/** The first `count` answers that grant. */
function first(count, asked) {
  return new Promise((resolve, reject) => {
    const granted = [];
    for (const answer of asked) {
      answer.then((one) => one && granted.push(one) === count && resolve(granted), reject);
    }
  });
}
