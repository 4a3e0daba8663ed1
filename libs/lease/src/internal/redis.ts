/** Not public API: keys, channels and scripts in Redis. */

export { RedisScript, loadScripts } from '../redis/redis-script.js';
export { redisKeys, redisChannel } from '../store/keys.js';
export type { KeySpace, KeyBuilder } from '../store/keys.js';
export { watchChannel } from '../redis/redis-connection.js';
export { addressOf, redactUrl, shownAddresses, isRedisUrl } from '../redis/redis-target.js';
