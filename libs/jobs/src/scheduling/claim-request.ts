import { DEFAULT_CANCEL_GRACE_MS, type CronDefinition } from '@fencepost/ledger/catalog';
import type { ClaimedOccurrence, ClaimRequest } from '@fencepost/ledger';
import type { OverlapPolicy } from '@fencepost/ledger/run';
import type { HeldCron } from './held-cron.js';
import type { Due } from './due-calculator.js';

/** Asks for what a plan says, under the generation its instants belong to. */
export function claimRequest(held: HeldCron, { plan, range }: Due, nonce: string): ClaimRequest {
  const { lease, cursor } = held;
  const { definition, generation, spreadMs } = range;
  const { startDeadlineMs } = definition;
  const { occurrence } = plan;
  return {
    cron: definition.name,
    fence: lease.fence,
    term: lease.nonce,
    holder: lease.holder,
    generation,
    nonce,
    cursor,
    skips: plan.skips,
    spreadMs,
    occurrence,
    overlap: overlapOf(definition, occurrence),
    maxConcurrency: definition.maxConcurrency ?? 1,
    cancelGraceMs: definition.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
    startBy: startDeadlineMs === undefined || occurrence === null ? null : occurrence.dueAt + startDeadlineMs,
    handler: definition.handler ?? null,
    payload: definition.payload === undefined ? null : JSON.stringify(definition.payload),
  };
}

/** Where the cursor stands after the claim. */
export function endOf({ occurrence, skips }: ClaimRequest): number {
  return occurrence?.scheduledAt ?? skips.at(-1)?.through ?? 0;
}

/** What `fire-all` makes up for runs one after the other, and not all at once as soon as the pods are back. */
function overlapOf({ misfire, overlap }: CronDefinition, occurrence: ClaimedOccurrence | null): OverlapPolicy {
  return misfire === 'fire-all' && occurrence?.reason === 'catch-up' && overlap !== 'allow' ? 'queue-all' : overlap;
}
