import type { AttemptOutcome, BeginRequest, ClaimRequest } from './ledger.js';

/*
 * What every ledger refuses before it asks its store. A number that is none would stop a script after its first writes,
 * and a script has no way back: a cursor of NaN would end its cron for good.
 */

/** @throws {RangeError} */
export function checkClaim(request: ClaimRequest): void {
  const { occurrence, skips } = request;
  if (occurrence === null && skips.length === 0) {
    throw new RangeError('Expected a claim with an occurrence, with skips, or with both; it has neither.');
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
  if (occurrence === null) return;
  checkWhole('scheduledAt', occurrence.scheduledAt, end + 1);
  checkWhole('dueAt', occurrence.dueAt, occurrence.scheduledAt);
}

/** @throws {RangeError} */
export function checkBegin({ ttlMs, maxAttempts }: BeginRequest): void {
  checkWhole('ttlMs', ttlMs, 1);
  checkWhole('maxAttempts', maxAttempts, 1);
}

/** @throws {RangeError} */
export function checkOutcome(outcome: AttemptOutcome): void {
  if (outcome.kind === 'retry') checkWhole('delayMs', outcome.delayMs, 0);
}

/** @throws {RangeError} */
export function checkWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(`Expected ${name} as a whole number from ${least}, got ${value}.`);
}
