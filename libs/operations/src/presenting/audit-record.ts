import { z } from 'zod';
import { instant, iso, textOrNull } from './values.js';
import type { AuditRecord } from '@fencepost/ledger/audit-trail';

export const auditRecordSchema = z
  .strictObject({
    id: z.string().describe('Of the store, ordered: what came later is larger.'),
    at: instant.describe('When, by the clock of the store.'),
    by: z.string().describe('Who.'),
    role: z.string().describe('With which role.'),
    action: z.string().describe('What.'),
    cron: textOrNull.describe('The cron it was done to.'),
    runId: textOrNull.describe('The run it was done to.'),
    before: z.unknown().describe('What was there before.'),
    after: z.unknown().describe('What was there afterwards.'),
    reason: textOrNull.describe('Why.'),
    from: textOrNull.describe('Where the order came from: an address, or the name of a program.'),
  })
  .describe('Who changed what through the API, the board or the command line.');

export type AuditRecordJson = z.infer<typeof auditRecordSchema>;

export function presentAuditRecord(record: AuditRecord): AuditRecordJson {
  const { id, at, by, role, action, cron, runId, before, after, reason, from } = record;
  return { id, at: iso(at), by, role, action, cron, runId, before: before ?? null, after: after ?? null, reason, from };
}
