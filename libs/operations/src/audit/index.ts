export type { AuditReport } from './audit-report.js';
export { audit } from './audit.js';
export type { AuditFinding, AuditFindingKind, NotCovered } from './audit-report.js';
