/** Not public API: what the command line reads of shadow mode. */

export { RedisShadowLog } from './redis-shadow-log.js';
export type { ShadowInterval, ShadowReading, ShadowRecord, WatchedCron } from './shadow-log.js';
