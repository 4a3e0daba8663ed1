/** Not public API: the guarantees of a Redis, for `connectLeases` and the doctor. */

export { probeRedis, readServers } from '../redis/redis-probe.js';
export type { ProbeOptions } from '../redis/redis-probe.js';
export type { ServerFacts } from '../redis/server-facts.js';
export { judgeHistory } from '../redis/server-history.js';
export type { History } from '../redis/server-history.js';
export { judgeServer } from '../redis/server-judgement.js';
export type { Finding, FindingCode, Criticality } from '../store/finding.js';
export type { Demands } from '../redis/server-judgement.js';
