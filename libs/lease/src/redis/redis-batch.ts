import type { RedisClient } from './redis-script.js';

/** A script blocks the server while it runs: a thousand terms take about a millisecond. */
const MAX_BATCH_SIZE = 1_000;

/**
 * One script for many resources; on a cluster one for each, because their keys are in different slots. Those are all
 * sent in one tick, so it is still one round trip, and unlike a pipeline each survives a moving slot.
 * @returns an answer per item, in the order given
 */
export function inBatches<T, A>(
  redis: RedisClient,
  items: readonly T[],
  run: (batch: readonly T[]) => Promise<A[]>,
): Promise<A[]> {
  const size = redis.isCluster ? 1 : MAX_BATCH_SIZE;
  if (items.length === 0) return Promise.resolve([]);
  return items.length <= size ? run(items) : inTurn(inParts(items, size).map(run));
}

async function inTurn<A>(parts: readonly Promise<A[]>[]): Promise<A[]> {
  return (await Promise.all(parts)).flat();
}

function inParts<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}
