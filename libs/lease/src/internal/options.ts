/** Not public API: how the options of all packages are read and what their errors say. */

export { parseDuration, isAmbiguous, checkedOptions, nearNames, knownInstead } from '../base/checked-options.js';
export { redisOption, redisTargetOf, shownRedisOption } from '../redis/redis-option.js';
export type { RedisOption } from '../redis/redis-option.js';
export { commandTimeoutMs } from '../connect/connect-leases.js';
export { redisFromEnvironment } from '../redis/redis-environment.js';
