export type { AuditQuery, AuditRecord, AuditTrail, NewAuditRecord } from './base/audit-trail.js';
export { KEPT_RECORDS, MAX_LISTED_RECORDS } from './base/audit-trail.js';
export { RedisAuditTrail } from './redis/redis-audit-trail.js';
