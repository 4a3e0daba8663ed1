import { randomUUID } from 'node:crypto';
import { bareNode } from './bare-redis.mjs';
import { QUORUM_TTL_MS } from './settings.mjs';

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
