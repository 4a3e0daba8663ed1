/** Not public API: the guarantees of a Redis, for `connectLeases` and the doctor. */

export { probeRedis, readServers } from '../redis/redis-probe.js';
export type { ProbeOptions } from '../redis/redis-probe.js';
export type { ServerFacts, History, Demands } from '../redis/server-judgement.js';
export { judgeHistory, judgeServer } from '../redis/server-judgement.js';
export type { Finding, FindingCode, Criticality } from '../store/finding.js';
