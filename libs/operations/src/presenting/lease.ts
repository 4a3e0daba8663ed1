import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import { z } from 'zod';
import { fence, fenceText, ms } from './values.js';

export const leaseSchema = z
  .strictObject({
    cron: z.string().describe('The cron it is for.'),
    holder: z.string().describe('Who holds it: label and the first characters of its identity.'),
    fence: fence.describe('The fence it was issued with.'),
    remainingMs: ms.describe('Remaining time without renewal.'),
  })
  .describe('A lease of a cron.');

export type LeaseJson = z.infer<typeof leaseSchema>;

export function presentLease({
  cron,
  holder,
  fence: issued,
  remainingMs,
}: Holding & { readonly cron: string }): LeaseJson {
  return { cron, holder: ownerPrefix(holder), fence: fenceText(issued), remainingMs };
}
