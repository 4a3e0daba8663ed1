import type { RedisClient } from '@fencepost/lease/redis';

/** A connection that notes which commands are sent. */
export function countedRedis(redis: RedisClient) {
  const asked: string[] = [];
  const counting = new Proxy(redis, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...words: unknown[]) => {
        asked.push(String(name));
        return Reflect.apply(member, target, words) as unknown;
      };
    },
  });
  return { counting, asked };
}
