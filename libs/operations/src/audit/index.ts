export type { AuditFinding, AuditFindingKind, AuditReport, NotCovered } from './audit-report.js';
export { audit } from './audit.js';
