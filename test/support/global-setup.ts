import { startRedis } from '../../scripts/redis.mjs';

/**
 * A Redis for `npx vitest run <path>` typed by hand; under `npm test` REDIS_URL is set already and nothing happens.
 * The tests' processes are forked afterwards and so inherit the address.
 */
export default async function setup(): Promise<() => Promise<void>> {
  if (process.env.REDIS_URL) return async () => {};
  const redis = await startRedis({ log: (line) => console.error(line) });
  process.env.REDIS_URL = redis.url;
  return () => redis.stop();
}
