/** Not public API: how the options of all packages are read and what their errors say. */

export { parseDuration, isAmbiguous } from '../duration.js';
export { checkedOptions } from '../checked-options.js';
export { nearNames, knownInstead } from '../near-names.js';
export { REDIS_OPTION, isRedisOption, shownRedisOption } from '../redis/redis-option.js';
export type { RedisOption } from '../redis/redis-option.js';
export { redisFromEnvironment } from '../redis/redis-environment.js';
