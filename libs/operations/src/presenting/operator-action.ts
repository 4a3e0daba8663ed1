import { z } from 'zod';
import type { OperatorAction } from '@fencepost/ledger/run';
import { instant, iso, textOrNull } from './values.js';

export const operatorActionSchema = z
  .strictObject({
    at: instant.describe('When it was done.'),
    action: z.enum(['pause', 'resume', 'trigger', 'backfill', 'cancel', 'resolve']).describe('The order.'),
    by: z.string().describe('Who did it.'),
    reason: textOrNull.describe('Reason, if given.'),
    runId: textOrNull.describe('The run it was about, where it was about one.'),
  })
  .describe('An order about a cron, as recorded in the ledger.');

export type OperatorActionJson = z.infer<typeof operatorActionSchema>;

export function presentOperatorAction({ at, action, by, reason, runId }: OperatorAction): OperatorActionJson {
  return { at: iso(at), action, by, reason, runId };
}
