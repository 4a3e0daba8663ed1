import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import { z } from 'zod';
import type { CronLease } from '../operating/lease-service.js';
import { fence, fenceText, ms, msOrNull } from './values.js';

export const leaseSchema = z
  .strictObject({
    cron: z.string().describe('The cron it is for.'),
    holder: z.string().describe('Who holds it: label and the first characters of its identity.'),
    fence: fence.describe('The fence it was issued with.'),
    remainingMs: ms.describe('Remaining time without renewal.'),
  })
  .describe('A lease of a cron.');

export type LeaseJson = z.infer<typeof leaseSchema>;

export const heldLeaseSchema = leaseSchema
  .extend({
    holderSilentMs: msOrNull.describe('Time since its holder last reported as a pod; null: no live pod has that name.'),
  })
  .describe('A lease of a cron, and when its holder was last heard.');

export function presentHeldLease(lease: CronLease): z.infer<typeof heldLeaseSchema> {
  return { ...presentLease(lease), holderSilentMs: lease.holderSilentMs };
}

export function presentLease({
  cron,
  holder,
  fence: issued,
  remainingMs,
}: Holding & { readonly cron: string }): LeaseJson {
  return { cron, holder: ownerPrefix(holder), fence: fenceText(issued), remainingMs };
}
