/** Not public API: keys, channels and scripts in Redis. */

export { RedisScript, loadScripts } from '../redis/redis-script.js';
export { redisKeys, redisChannel } from '../redis/redis-keys.js';
export type { KeySpace, KeyBuilder } from '../redis/redis-keys.js';
export { watchChannel } from '../redis/redis-channel.js';
export { redactUrl, isRedisUrl } from '../redis/redis-address.js';
