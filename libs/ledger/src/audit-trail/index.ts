export type { AuditQuery, AuditRecord, AuditTrail, NewAuditRecord } from './audit-trail.js';
export { KEPT_RECORDS, MAX_LISTED_RECORDS } from './audit-trail.js';
export { PostgresAuditTrail } from './postgres-audit-trail.js';
export { RedisAuditTrail } from './redis-audit-trail.js';
