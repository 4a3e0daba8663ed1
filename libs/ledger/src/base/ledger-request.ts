import { inspect } from 'node:util';
import { FencepostError } from '@fencepost/lease';
import { DEFAULT_CANCEL_GRACE_MS, MAX_RESULT_BYTES } from './run.js';
import type {
  AttemptOutcome,
  BeginRequest,
  ClaimRequest,
  UnresolvedEffectRef,
  TriggerRequest,
  ResolveRequest,
  TallyRequest,
} from './ledger.js';
import type { OverdueOptions } from './accepting.js';
import { checkCronName, cronOfRun, occurrenceId } from './occurrence.js';

/*
 * What every ledger refuses before it asks its store. A number that is none would stop a script after its first writes,
 * and a script has no way back: a cursor of NaN would end its cron for good.
 */

/** @throws {RangeError} */
export function checkClaim(request: ClaimRequest): void {
  const { occurrence, skips } = request;
  checkCronName(request.cron);
  if (occurrence === null && skips.length === 0) {
    throw new RangeError('The claim has neither an occurrence nor skips.');
  }
  checkWhole('fence', request.fence, 1);
  checkWhole('generation', request.generation, 0);
  let end = 0;
  for (const { after, through } of skips) {
    checkWhole('after', after, end);
    checkWhole('through', through, after + 1);
    end = through;
  }
  checkWhole('spreadMs', request.spreadMs ?? 0, 0);
  checkPolicy(request);
  checkWhole('startBy', request.startBy ?? 0, 0);
  if (occurrence === null) return;
  checkWhole('scheduledAt', occurrence.scheduledAt, end + 1);
  checkWhole('dueAt', occurrence.dueAt, occurrence.scheduledAt);
}

/** @throws {RangeError} */
export function checkTrigger(request: TriggerRequest): void {
  const { generation, scheduledAt, missed, runId, rerunOf } = request;
  checkCronName(cronOfRun(runId));
  checkWhole('generation', generation, 0);
  checkWhole('scheduledAt', scheduledAt ?? 0, 0);
  checkWhole('notBefore', request.notBefore ?? 0, 0);
  checkWhole('priority', request.priority ?? 1, 1);
  checkWhole('keyMs', request.keyMs ?? 1, 1);
  if (missed !== null) {
    checkWhole('count', missed.count, 1);
    checkWhole('from', missed.from, 0);
    checkWhole('to', missed.to, missed.from);
  }
  if (rerunOf && cronOfRun(rerunOf) !== cronOfRun(runId)) {
    throw new RangeError(`Expected rerunOf as a run of ${cronOfRun(runId)}, got "${rerunOf}".`);
  }
  checkPolicy(request);
}

/** @throws {RangeError} */
export function checkOverdue({ againMs, keep }: OverdueOptions): void {
  checkWhole('againMs', againMs, 0);
  checkWhole('keep', keep, 0);
}

/** How many runs may be open at once where a request doesn't say. */
export const DEFAULT_MAX_CONCURRENCY = 1;

/** Whether the id is the one that the schedule itself would give the instant. */
export function isNatural({ runId, scheduledAt }: TriggerRequest): boolean {
  return scheduledAt !== null && runId === occurrenceId({ cron: cronOfRun(runId), scheduledAt });
}

/**
 * A trigger arrives this long after its id was made at most: what comes later is a duplicate, or was held up on its way. So
 * the id of a triggered run that retention removes has to be remembered no longer than this. `delete-runs.sql` has it too.
 */
export const LATE_TRIGGER_MS = 600_000;

const MANUAL = '@manual-';

/** Whether the id of the run is its trigger's own, and nothing but the run's record says that it was used. */
export function isTriggeredId(runId: string): boolean {
  return runId.includes(MANUAL);
}

/** When the id was made, epoch milliseconds, for one that says so: a UUID of version 7. */
export function madeAt(runId: string): number | null {
  const [, high = '', low = ''] = /@manual-([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/.exec(runId) ?? [];
  return high === '' ? null : Number.parseInt(high + low, 16);
}

interface Policy {
  readonly maxConcurrency?: number;
  readonly cancelGraceMs?: number;
}

function checkPolicy({ maxConcurrency, cancelGraceMs }: Policy): void {
  checkWhole('maxConcurrency', maxConcurrency ?? DEFAULT_MAX_CONCURRENCY, 1);
  checkWhole('cancelGraceMs', cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS, 0);
}

/** @throws {RangeError} */
export function checkPause(cron: string, { until }: { readonly until: number | null }): void {
  checkCronName(cron);
  checkWhole('until', until ?? 0, 0);
}

/** @throws {RangeError} */
export function checkUnresolvedEffect({ attempt, since }: UnresolvedEffectRef): void {
  checkWhole('attempt', attempt, 1);
  checkWhole('since', since, 0);
}

/** The instants of `[from, to)`. @throws {RangeError} */
export function checkRange(from: number, to: number): void {
  checkWhole('from', from, 0);
  checkWhole('to', to, from);
}

/** @throws {RangeError} */
export function checkBegin({ ttlMs, maxAttempts }: BeginRequest): void {
  checkWhole('ttlMs', ttlMs, 1);
  checkWhole('maxAttempts', maxAttempts, 1);
}

/** @throws {RangeError} */
export function checkOutcome(outcome: AttemptOutcome): void {
  if (outcome.kind === 'retry') checkWhole('delayMs', outcome.delayMs, 0);
  if (outcome.kind === 'succeeded' && outcome.result !== undefined) checkResult(outcome.result);
}

function checkResult(result: string): void {
  const bytes = Buffer.byteLength(result);
  if (bytes <= MAX_RESULT_BYTES) return;
  throw new RangeError(`Expected a result of at most ${MAX_RESULT_BYTES} bytes, got ${bytes}.`);
}

/** @throws {RangeError} */
export function checkWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(`Expected ${name} as a whole number from ${least}, got ${value}.`);
}

/** What an operator asked for can't be: which word of it, what was expected, what came. */
export class OperatorInputError extends FencepostError {
  readonly code = 'OPERATOR_INPUT';

  /** One sentence: which word, what was expected, what came. */
  static of(what: string, expected: string, got: unknown): OperatorInputError {
    const shown = inspect(got, { depth: 1, breakLength: Infinity, maxStringLength: 100, maxArrayLength: 10 });
    return new OperatorInputError(`Expected ${what} to be ${expected}, got ${shown}.`);
  }
}

/** How an effect is recorded after an operator's answer. */
export const RECORDED_AS = { done: 'done', 'not-done': 'failed', 'give-up': 'give-up' } as const;

/** What is recorded as the error of what did not happen, or of a run that is not worth it: who said so, and why. */
export function resolutionText({ answer, by, reason }: ResolveRequest): string {
  return answer.verdict === 'give-up'
    ? `given up by ${by}: ${reason}`
    : `a person said it did not happen (${by}: ${reason})`;
}

/** @throws {RangeError} */
export function checkTally({ from, to, bucketMs, graceMs, most }: TallyRequest): void {
  checkRange(from, to);
  checkWhole('bucketMs', bucketMs, 1);
  checkWhole('graceMs', graceMs, 0);
  checkWhole('most', most, 1);
}

/** What is asked for: instants in `[from, to)`, and at most so many runs. */
export interface AccountPart {
  readonly from: number;
  readonly to: number;
  readonly most: number;
}

interface Instants {
  /** Of the first run. */
  readonly first: number | undefined;
  /** Of the first run that is too many. */
  readonly beyond: number | undefined;
  readonly to: number;
}

/** Where a part of an account ends: before the instant of the first run that is too many, but not before the first instant's end. */
export function endOfPart({ first, beyond, to }: Instants): number {
  if (first === undefined || beyond === undefined) return to;
  return Math.max(beyond, first + 1);
}
