import type { RedisTarget } from '@fencepost/lease/redis';

/** What tells a pod where its Redis is; what this process was told itself is taken out. */
export function redisEnvironment(target: RedisTarget): Record<string, string> {
  const none = { REDIS_URL: '', REDIS_SENTINELS: '', REDIS_SENTINEL_NAME: '', REDIS_CLUSTER: '' };
  if ('url' in target) return { ...none, REDIS_URL: target.url };
  if ('cluster' in target) return { ...none, REDIS_CLUSTER: target.cluster.join(',') };
  const { sentinels, name } = target.sentinel;
  const addresses = sentinels.map(({ host, port }) => `${host}:${port}`);
  return { ...none, REDIS_SENTINELS: addresses.join(','), REDIS_SENTINEL_NAME: name };
}
