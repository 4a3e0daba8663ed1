import type { ClaimReply, ClaimRequest } from '@fencepost/ledger';
import type { RecordedCall } from './recording.js';

/** A claim that moved a cursor, or may have. */
export interface Decision {
  readonly process: string;
  readonly cron: string;
  readonly generation: number;
  /** Where the cursor was; `null` for the first decision of all. */
  readonly after: number | null;
  readonly through: number;
  /** The instant that runs, and what of the others was left out. */
  readonly occurrence: number | null;
  readonly skips: ClaimRequest['skips'];
  /** Microseconds of the recorders' clock. */
  readonly calledAt: number;
  /** `false` where nobody heard the answer. */
  readonly sure: boolean;
}

type Settled = { readonly status: 'fulfilled'; readonly value: ClaimReply } | { readonly status: 'rejected' };

const MOVED = new Set<ClaimReply['verdict']>(['claimed', 'skipped', 'recorded']);

/** All that moved a cursor, or may have: a request whose answer got lost may have arrived all the same. */
export function decisionsIn(calls: readonly RecordedCall[]): Decision[] {
  return calls.flatMap((call) => {
    if (call.op === 'claim') return decisionOf(call, call.input[0] as ClaimRequest, call.output as ClaimReply) ?? [];
    if (call.op !== 'claimAll') return [];
    const replies = call.output as readonly Settled[] | undefined;
    return (call.input[0] as readonly ClaimRequest[]).flatMap((request, n) => {
      const reply = replies?.[n];
      return decisionOf(call, request, reply?.status === 'fulfilled' ? reply.value : undefined) ?? [];
    });
  });
}

function decisionOf(call: RecordedCall, request: ClaimRequest, reply: ClaimReply | undefined): Decision | null {
  const { cron, generation, cursor, occurrence, skips } = request;
  const through = occurrence?.scheduledAt ?? skips.at(-1)?.through;
  if (through === undefined || (reply && !MOVED.has(reply.verdict))) return null;
  const { process, calledAt } = call;
  const instant = occurrence?.scheduledAt ?? null;
  return {
    ...{ process, calledAt, cron, generation, skips, through },
    ...{ after: cursor, occurrence: instant, sure: reply !== undefined },
  };
}

/**
 * The decisions that a cursor went through to where it is now, in their order. Between two that are known the way leads over
 * those of which nobody heard; where several would do, over one that `isLikely`.
 */
export function wayOf(
  decisions: readonly Decision[],
  cursor: number | null,
  isLikely: (decision: Decision) => boolean = () => true,
): Decision[] {
  const likelyFirst = (a: Decision, b: Decision) => Number(isLikely(b)) - Number(isLikely(a));
  const unsure = decisions.filter(({ sure }) => !sure).toSorted(likelyFirst);
  const sure = decisions.filter((decision) => decision.sure).toSorted((a, b) => a.through - b.through);
  const way: Decision[] = [];
  const go = (to: number | null) => way.push(...(bridge(unsure, way.at(-1)?.through ?? null, to) ?? []));
  for (const decision of sure) {
    // A claim that was sent again has the same answer.
    if (decision.through === way.at(-1)?.through) continue;
    go(decision.after);
    way.push(decision);
  }
  go(cursor);
  return way;
}

function bridge(unsure: readonly Decision[], from: number | null, to: number | null): Decision[] | null {
  if (from === to) return [];
  if (to === null || (from ?? -Infinity) > to) return null;
  for (const step of unsure.filter(({ after, through }) => after === from && through <= to)) {
    const rest = bridge(unsure, step.through, to);
    if (rest) return [step, ...rest];
  }
  return null;
}
