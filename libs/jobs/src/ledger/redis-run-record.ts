import { parseFence } from '@fencepost/lease';
import { cronOfRun } from '../schedule/occurrence.js';
import type { RunState } from './run-state.js';
import type { MissedRange, Run, RunReason, SkipRange, SkipReason } from './run.js';

type Fields = Readonly<Record<string, string>>;

/** Reads a run as the scripts wrote it; `null` for a hash that isn't there. */
export function readRunRecord(fields: Fields): Run | null {
  const id = fields['id'];
  if (id === undefined) return null;
  return {
    id,
    cron: cronOfRun(id),
    scheduledAt: Number(fields['scheduledAt']),
    dueAt: Number(fields['dueAt']),
    state: fields['state'] as RunState,
    reason: fields['reason'] as RunReason,
    skipped: (fields['skipped'] as SkipReason | undefined) ?? null,
    missed: readMissed(fields['missed']),
    generation: Number(fields['generation']),
    claimFence: parseFence(fields['claimFence'] ?? ''),
    claimedBy: fields['claimedBy'] ?? '',
    claimedAt: Number(fields['claimedAt']),
    enqueuedAt: optionalNumber(fields['enqueuedAt']),
    delivery: Number(fields['delivery']),
    attempt: Number(fields['attempt']),
    fence: fields['fence'] ? parseFence(fields['fence']) : null,
    worker: fields['worker'] ?? null,
    startedAt: optionalNumber(fields['startedAt']),
    attemptedAt: optionalNumber(fields['attemptedAt']),
    notBefore: optionalNumber(fields['notBefore']),
    finishedAt: optionalNumber(fields['finishedAt']),
    error: fields['error'] || null,
  };
}

/** A hash as a script returns it, `[field, value, field, value, …]`, which is how HGETALL answers inside of one. */
export function readFields(flat: readonly string[]): Fields {
  return Object.fromEntries(flat.flatMap((field, n) => (n % 2 === 0 ? [[field, flat[n + 1] ?? '']] : [])));
}

function optionalNumber(text: string | undefined): number | null {
  return text ? Number(text) : null;
}

function readMissed(text: string | undefined): MissedRange | null {
  if (!text) return null;
  const [count, from, to] = text.split(',').map(Number);
  return { count: count ?? 0, from: from ?? 0, to: to ?? 0 };
}

export function writeMissed(missed: MissedRange | null): string {
  return missed === null ? '' : [missed.count, missed.from, missed.to].join(',');
}

/** A range as `claim-occurrence` stores it: `after,through,reason`. */
export function readSkipRange(text: string): SkipRange {
  const [after, through, reason] = text.split(',');
  return { after: Number(after), through: Number(through), reason: reason as SkipReason };
}
