/** Not public API: how the options of all packages are read and what their errors say. */

export { parseDuration, isAmbiguous, checkedOptions, nearNames, knownInstead } from '../base/checked-options.js';
export { REDIS_OPTION, isRedisOption, shownRedisOption } from '../redis/redis-options.js';
export type { RedisOption } from '../redis/redis-options.js';
export { redisFromEnvironment } from '../redis/redis-environment.js';
