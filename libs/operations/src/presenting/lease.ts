import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import { z } from 'zod';
import type { CronLease } from '../operating/lease-service.js';
import { HOLDER_STATES } from '../operating/live-pods.js';
import { OWN_KINDS, type OwnLease } from '../operating/own-lease.js';
import type { WatchReport } from '../operating/leases-watch.js';
import { fence, fenceOrNull, fenceText, instantOrNull, iso, ms, msOrNull } from './values.js';

export const leaseSchema = z
  .strictObject({
    cron: z.string().describe('The cron it is for.'),
    holder: z.string().describe('Who holds it: label and the first characters of its identity.'),
    fence: fence.describe('The fence it was issued with.'),
    remainingMs: ms.describe('Remaining time without renewal.'),
    heldSince: instantOrNull.describe(
      'When it was acquired, by the clock of the store; null: the store does not know.',
    ),
  })
  .describe('A lease of a cron.');

export type LeaseJson = z.infer<typeof leaseSchema>;

export const heldLeaseSchema = leaseSchema
  .extend({
    holderState: z
      .enum(HOLDER_STATES)
      .describe('live; silent: last heard over 8 s ago; gone: not heard for 15 s; unknown: it does not report.'),
    holderSilentMs: msOrNull.describe('Time since its holder was last heard; null: it is gone or unknown.'),
  })
  .describe('A lease of a cron, and when its holder was last heard.');

export function presentHeldLease(lease: CronLease): z.infer<typeof heldLeaseSchema> {
  const { holderState, holderSilentMs } = lease;
  return { ...presentLease(lease), holderState, holderSilentMs };
}

export function presentLease({
  cron,
  holder,
  fence: issued,
  remainingMs,
  acquiredAt,
}: Holding & { readonly cron: string }): LeaseJson {
  return {
    cron,
    holder: ownerPrefix(holder),
    fence: fenceText(issued),
    remainingMs,
    heldSince: iso(acquiredAt ?? null),
  };
}

export const ownLeaseSchema = leaseSchema
  .omit({ cron: true })
  .extend({
    kind: z
      .enum(OWN_KINDS)
      .describe(
        'lease: of the application itself; semaphore: one of its places; election: a role; flight: a single flight.',
      ),
    resource: z.string().describe('Its name; a sensitive id is a hash.'),
    holderIsPod: z
      .boolean()
      .describe('true: a pod that was heard in the last 15 s; false: unknown, since other processes do not report.'),
  })
  .describe('A lease that is no cron’s, or one place of a semaphore.');

export const watchSchema = z
  .strictObject({
    verdict: z
      .enum(['clean', 'free', 'doubtful', 'duplicate'])
      .describe(
        'free: nobody holds it yet; doubtful: a person should look; duplicate: the fence did not keep one out.',
      ),
    observations: z.array(
      z.strictObject({
        kind: z.string().describe('What was seen, for programs.'),
        level: z.enum(['note', 'warn', 'bad']).describe('note: as it should be.'),
        runId: z.string().nullable().describe('The run it is about, if any.'),
        text: z.string().describe('What was seen, in a sentence.'),
      }),
    ),
    holder: z.string().nullable().describe('Who holds it now.'),
    fence: fenceOrNull.describe('Its fence.'),
  })
  .describe('What was seen of a cleared lease until now.');

export function presentWatch(
  report: Pick<WatchReport, 'verdict' | 'observations' | 'holding'>,
): z.infer<typeof watchSchema> {
  const { verdict, observations, holding } = report;
  const holder = holding && ownerPrefix(holding.holder);
  return { verdict, observations: [...observations], holder, fence: fenceText(holding?.fence ?? null) };
}

export function presentOwnLease({ kind, resource, holderIsPod, ...holding }: OwnLease): z.infer<typeof ownLeaseSchema> {
  const { cron: _, ...shown } = presentLease({ cron: resource, ...holding });
  return { kind, resource, ...shown, holderIsPod };
}
