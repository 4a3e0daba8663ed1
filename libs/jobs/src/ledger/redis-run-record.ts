import { parseFence } from '@fencepost/lease';
import { cronOfRun } from '../schedule/occurrence.js';
import type { RunState } from './run-state.js';
import type { MissedRange, Pause, Run, RunReason, SkipRange, SkipReason, WaitReason } from './run.js';

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
    by: fields['by'] ?? null,
    payload: fields['payload'] ?? null,
    handler: fields['handler'] ?? null,
    waiting: (fields['waiting'] || null) as WaitReason | null,
    cancel: readCancel(fields),
  };
}

/**
 * What `begin-attempt` returns of a run, in the order of that script: what was known before the attempt, and what is known by
 * it. `skipped` and `finishedAt` aren't there, because only a run that is over has them.
 */
const KNOWN =
  'state nonce fence attempt leaseUntil leaseMs notBefore overlap maxConcurrency startBy cancelUntil scheduledAt startedAt ' +
  'id dueAt reason missed generation claimFence claimedBy claimedAt enqueuedAt delivery error by payload handler';
const KNOWN_FIELDS = KNOWN.split(' ');
const BEGUN_FIELDS = 'startedAt attemptedAt worker waiting cancelAt cancelBy'.split(' ');

type Values = readonly (string | null)[];

export interface BegunRun {
  readonly fence: string;
  readonly attempt: string;
  readonly known: Values;
  readonly begun: Values;
}

/** A run that goes on, from values alone: their names would be most of the reply. */
export function readBegunRun({ fence, attempt, known, begun }: BegunRun): Run | null {
  const fields: Record<string, string> = {};
  nameValues(KNOWN_FIELDS, known, fields);
  nameValues(BEGUN_FIELDS, begun, fields);
  return readRunRecord(Object.assign(fields, { state: 'running', fence, attempt }));
}

function nameValues(names: readonly string[], values: Values, fields: Record<string, string>): void {
  for (let n = 0; n < values.length; n += 1) {
    const value = values[n];
    if (typeof value === 'string') fields[names[n] ?? ''] = value;
  }
}

function optionalNumber(text: string | undefined): number | null {
  return text ? Number(text) : null;
}

/** Written wholly or not at all. */
function readCancel(fields: Fields): Run['cancel'] {
  const { cancelAt, cancelBy, cancelUntil } = fields;
  if (!cancelAt) return null;
  return { at: Number(cancelAt), by: cancelBy ?? '', until: Number(cancelUntil) };
}

function readMissed(text: string | undefined): MissedRange | null {
  if (!text) return null;
  const [count, from, to] = text.split(',').map(Number);
  return { count: count ?? 0, from: from ?? 0, to: to ?? 0 };
}

interface RunOptions {
  readonly missed: MissedRange | null;
  readonly maxConcurrency?: number | undefined;
  readonly startBy?: number | null | undefined;
  readonly handler?: string | null | undefined;
  readonly payload?: string | null | undefined;
}

/** The fields that most runs don't have, as a script writes them: a field that isn't there is the usual. */
export function writeOptions(options: RunOptions): (string | number)[] {
  const { missed, maxConcurrency = 1, startBy = null, handler = null, payload = null } = options;
  const words: (string | number)[] = [];
  if (missed !== null) words.push('missed', [missed.count, missed.from, missed.to].join(','));
  if (maxConcurrency !== 1) words.push('maxConcurrency', maxConcurrency);
  if (startBy !== null) words.push('startBy', startBy);
  if (handler !== null) words.push('handler', handler);
  if (payload !== null) words.push('payload', payload);
  return words;
}

/** What stands for "until it is resumed". */
const EVER = 'ever';

export function writeUntil(until: number | null): string {
  return until === null ? EVER : until.toFixed(0);
}

/** A pause as `{since, until, by, reason}`; one without an end to it is none. */
export function readPause([since, until, by, reason]: readonly (string | null)[]): Pause | null {
  if (!until) return null;
  return { since: Number(since), until: until === EVER ? null : Number(until), by: by ?? '', reason: reason ?? '' };
}

/** A range as `claim-occurrences` stores it: `after,through,reason`. */
export function readSkipRange(text: string): SkipRange {
  const [after, through, reason] = text.split(',');
  return { after: Number(after), through: Number(through), reason: reason as SkipReason };
}
