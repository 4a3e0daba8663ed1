/** Not public API: how the options of all packages are read and what their errors say. */

export { parseDuration, isAmbiguous } from '../base/duration.js';
export { checkedOptions } from '../base/checked-options.js';
export { nearNames, knownInstead } from '../base/near-names.js';
export { REDIS_OPTION, isRedisOption, shownRedisOption } from '../redis/redis-option.js';
export type { RedisOption } from '../redis/redis-option.js';
export { redisFromEnvironment } from '../redis/redis-environment.js';
