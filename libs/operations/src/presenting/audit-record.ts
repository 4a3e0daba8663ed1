import { z } from 'zod';
import { instant, iso, textOrNull } from './values.js';
import type { OperatorAction } from '@fencepost/ledger/run';

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

/** What an audit trail has, with the instant in epoch milliseconds. */
export interface AuditRecordSeen extends Omit<AuditRecordJson, 'at' | 'before' | 'after'> {
  readonly at: number;
  readonly before?: unknown;
  readonly after?: unknown;
}

export function presentAuditRecord(record: AuditRecordSeen): AuditRecordJson {
  const { id, at, by, role, action, cron, runId, before, after, reason, from } = record;
  return { id, at: iso(at), by, role, action, cron, runId, before: before ?? null, after: after ?? null, reason, from };
}

export const operatorActionSchema = z
  .strictObject({
    at: instant.describe('When it was done.'),
    action: z.enum(['pause', 'resume', 'trigger', 'backfill', 'cancel', 'resolve']).describe('The order.'),
    by: z.string().describe('Who did it.'),
    reason: textOrNull.describe('Reason, if given.'),
    runId: textOrNull.describe('The run it was about, where it was about one.'),
  })
  .describe('An order about a cron, as recorded in the ledger.');

type OperatorActionJson = z.infer<typeof operatorActionSchema>;

export function presentOperatorAction({ at, action, by, reason, runId }: OperatorAction): OperatorActionJson {
  return { at: iso(at), action, by, reason, runId };
}
