import type { ResolveRequest } from './ledger.js';

/** What is recorded as the error of what did not happen, or of a run that is not worth it: who said so, and why. */
export function resolutionText({ answer, by, reason }: ResolveRequest): string {
  return answer.verdict === 'give-up'
    ? `given up by ${by}: ${reason}`
    : `a person said it did not happen (${by}: ${reason})`;
}
