import { z } from 'zod';
import { instant, iso, textOrNull } from './values.js';

export const auditRecordSchema = z
  .strictObject({
    id: z.string().describe('Of the store, ordered: what came later is larger.'),
    at: instant.describe('When, by the clock of the store.'),
    by: z.string().describe('Who.'),
    role: z.string().describe('With which role.'),
    action: z.string().describe('What.'),
    cron: textOrNull.describe('The cron it was done to.'),
    runId: textOrNull.describe('The run it was done to.'),
    crons: z.array(z.string()).describe('Of an order to many: the crons it was tried on. Otherwise empty.'),
    before: z.unknown().describe('What was there before.'),
    after: z.unknown().describe('What was there afterwards.'),
    reason: textOrNull.describe('Why.'),
    from: textOrNull.describe('Where the order came from: an address, or the name of a program.'),
  })
  .describe('Who changed what through the API, the board, the command line or code.');

export type AuditRecordJson = z.infer<typeof auditRecordSchema>;

/** What an audit trail has, with the instant in epoch milliseconds. */
export interface AuditRecordSeen extends Omit<AuditRecordJson, 'at' | 'crons' | 'before' | 'after'> {
  readonly at: number;
  readonly crons?: readonly string[];
  readonly before?: unknown;
  readonly after?: unknown;
}

export function presentAuditRecord(record: AuditRecordSeen): AuditRecordJson {
  const { id, at, by, role, action, cron, runId, crons = [], before, after, reason, from } = record;
  return {
    ...{ id, at: iso(at), by, role, action, cron, runId, crons: [...crons], reason, from },
    ...{ before: before ?? null, after: after ?? null },
  };
}
