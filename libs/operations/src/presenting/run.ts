import { ownerPrefix } from '@fencepost/lease/internal';
import { z } from 'zod';
import type { MissedRange, Run, UnresolvedEffect } from '@fencepost/ledger/run';
import { lateBy, took } from '../operating/timeline-run.js';
import { count, fence, fenceOrNull, fenceText, instant, instantOrNull, iso, msOrNull, textOrNull } from './values.js';

const runStateSchema = z
  .enum(['claimed', 'enqueued', 'running', 'orphaned', 'uncertain', 'succeeded', 'failed', 'cancelled', 'skipped'])
  .describe('States of a run; uncertain waits for an operator.');

const skipReasonSchema = z
  .enum(['overlap', 'no-capable-worker', 'misfire', 'merged', 'paused', 'superseded'])
  .describe('Why an instant did not run.');

const missedSchema = z
  .strictObject({
    count: count.describe('How many instants.'),
    from: instant.describe('The first of them.'),
    to: instant.describe('The last of them.'),
  })
  .describe('Missed instants that this run also covers.');

export const unresolvedEffectSchema = z
  .strictObject({
    effect: z.string().describe('The effect whose outcome is unknown.'),
    item: textOrNull.describe('The key of the item, where the effect is one item of many.'),
    unknownReason: z
      .enum(['lost', 'timeout', 'payload-changed', 'key-expired'])
      .describe('Why the outcome is unknown: worker died, timeout, payload changed, or idempotency key expired.'),
    since: instant.describe('When the effect was first begun.'),
  })
  .describe('The unresolved effect of an uncertain run.');

const cancelSchema = z
  .strictObject({
    at: instant.describe('When it was cancelled.'),
    by: z.string().describe('Who did.'),
    until: instant.describe('When its writes begin to be refused.'),
  })
  .describe('A cancellation.');

export const runSchema = z
  .strictObject({
    id: z.string().describe('Such as nightly-report@1763607600000.'),
    cron: z.string().describe('The cron it belongs to.'),
    scheduledAt: instant.describe('The nominal instant.'),
    dueAt: instant.describe('The nominal instant plus the spread of the cron.'),
    state: runStateSchema,
    reason: z.enum(['schedule', 'catch-up', 'manual', 'backfill']).describe('Why the run exists.'),
    skipped: skipReasonSchema.nullable(),
    missed: missedSchema.nullable(),
    generation: z.int().describe('The generation of the definition it was claimed under.'),
    claimFence: fence.describe('The fence of the scheduler that claimed it.'),
    claimedBy: z.string().describe('The scheduler that claimed it: label and the first characters of its identity.'),
    claimedAt: instant.describe('When the ledger accepted it.'),
    enqueuedAt: instantOrNull.describe('When it was enqueued.'),
    delivery: count.describe('Number of deliveries to the queue.'),
    attempt: count.describe('Attempts so far; 0 before the first.'),
    fence: fenceOrNull.describe('The fence of the latest attempt.'),
    worker: textOrNull.describe('The worker of the latest attempt: label and the first characters of its identity.'),
    startedAt: instantOrNull.describe('When the first attempt began.'),
    attemptedAt: instantOrNull.describe('When the latest attempt began.'),
    notBefore: instantOrNull.describe('The next attempt begins no earlier.'),
    finishedAt: instantOrNull.describe('When it came into its final state.'),
    lateByMs: msOrNull.describe(
      'How much later than due the first attempt began; null before it has begun, and for a manual or backfilled run.',
    ),
    tookMs: msOrNull.describe('From the beginning of the first attempt to the end; null before it has ended.'),
    error: textOrNull.describe('Error of the latest attempt.'),
    result: z.unknown().describe('What its handler returned, as JSON; null: nothing, or it did not succeed.'),
    by: textOrNull.describe('Who ordered it; null: the schedule.'),
    payload: z.unknown().describe('Payload for its handler, as JSON.'),
    handler: textOrNull.describe('Cron whose handler executes it; null: its own.'),
    waiting: z.enum(['no-capable-worker']).nullable().describe('Why it is enqueued but not started, if known.'),
    priority: z.int().nullable().describe('The smaller number goes first, null before all numbers.'),
    unresolvedEffect: unresolvedEffectSchema.nullable(),
    cancel: cancelSchema.nullable(),
  })
  .describe('The record of one occurrence, or of one triggered run.');

export type RunJson = z.infer<typeof runSchema>;

export function presentRun(run: Run): RunJson {
  const { unresolvedEffect, ...shown } = run;
  return {
    ...shown,
    scheduledAt: iso(run.scheduledAt),
    dueAt: iso(run.dueAt),
    missed: run.missed && presentMissed(run.missed),
    claimFence: fenceText(run.claimFence),
    claimedBy: ownerPrefix(run.claimedBy),
    claimedAt: iso(run.claimedAt),
    enqueuedAt: iso(run.enqueuedAt),
    fence: fenceText(run.fence),
    worker: run.worker === null ? null : ownerPrefix(run.worker),
    startedAt: iso(run.startedAt),
    attemptedAt: iso(run.attemptedAt),
    notBefore: iso(run.notBefore),
    finishedAt: iso(run.finishedAt),
    lateByMs: lateBy(run),
    tookMs: took(run),
    payload: run.payload === null ? null : (JSON.parse(run.payload) as unknown),
    result: run.result === null ? null : (JSON.parse(run.result) as unknown),
    unresolvedEffect: unresolvedEffect && presentUnresolvedEffect(unresolvedEffect),
    cancel: run.cancel && { ...run.cancel, at: iso(run.cancel.at), until: iso(run.cancel.until) },
  };
}

function presentMissed(missed: MissedRange): RunJson['missed'] {
  return { count: missed.count, from: iso(missed.from), to: iso(missed.to) };
}

function presentUnresolvedEffect({
  effect,
  item,
  unknownReason,
  since,
}: UnresolvedEffect): z.infer<typeof unresolvedEffectSchema> {
  return { effect, item, unknownReason, since: iso(since) };
}
