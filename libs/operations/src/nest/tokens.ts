/** The {@link Reads} of this process: the stores for whoever only looks, over connections of their own. */
export const READS = Symbol('READS');
/** The {@link Journal} of this deployment: what happened lately, over all pods. */
export const JOURNAL = Symbol('JOURNAL');
/** The {@link AuditTrail} of this deployment: who did what. */
export const AUDIT_TRAIL = Symbol('AUDIT_TRAIL');
