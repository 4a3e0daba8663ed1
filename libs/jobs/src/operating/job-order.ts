import { parseDuration } from '@fencepost/lease';
import { lostInJson } from '../nest/json-value.js';
import { JobPayloadError } from '../running/job-payload-error.js';
import { LARGEST_PRIORITY } from '../scheduling/run-queue.js';
import { checkedInstant, checkedText, wrong } from './order.js';

export interface EnqueueOptions {
  /**
   * A text of 1 to 1,000 characters. The same one again makes no second run of this job, for as long as the ledger keeps the
   * first; default: each call makes one.
   */
  readonly idempotencyKey?: string;
  /** `'5m'`, or milliseconds: it begins no earlier than that. */
  readonly delay?: string | number;
  /** Or no earlier than at this instant, a date or epoch milliseconds; one that is past means now. */
  readonly runAt?: Date | number;
  /** 1 to 2,097,151: of the jobs that wait, the smaller number goes first; default: before all of them. */
  readonly priority?: number;
  /** Who asks, for the list of what was asked for; default `'jobs'`. */
  readonly by?: string;
}

/** {@link EnqueueOptions}, checked. */
export interface JobOrder {
  readonly key: string | null;
  readonly notBefore: number | null;
  readonly priority: number | null;
  readonly by: string;
}

const LARGEST_PAYLOAD = 1_048_576;

/**
 * @param now the store's clock, epoch milliseconds
 * @throws {OperatorInputError}
 */
export function checkedOrder(options: EnqueueOptions, now: number): JobOrder {
  const { idempotencyKey, priority = null, by = 'jobs' } = options;
  if (priority !== null && !(Number.isSafeInteger(priority) && priority >= 1 && priority <= LARGEST_PRIORITY)) {
    throw wrong('priority', `a whole number from 1 to ${LARGEST_PRIORITY}`, priority);
  }
  return {
    key: idempotencyKey === undefined ? null : checkedText('idempotencyKey', idempotencyKey),
    notBefore: checkedBeginning(options, now),
    priority,
    by: checkedText('by', by),
  };
}

function checkedBeginning({ delay, runAt }: EnqueueOptions, now: number): number | null {
  if (delay !== undefined && runAt !== undefined) throw wrong('delay', 'left out beside "runAt"', delay);
  if (runAt !== undefined) return checkedInstant('runAt', runAt instanceof Date ? runAt.getTime() : runAt);
  return delay === undefined ? null : checkedInstant('delay', Math.ceil(now + checkedDelay(delay)));
}

function checkedDelay(delay: string | number): number {
  try {
    return parseDuration(delay);
  } catch {
    throw wrong('delay', "a duration such as '5m', or whole milliseconds", delay);
  }
}

/**
 * As JSON; `null` for nothing.
 * @throws {JobPayloadError} for what JSON doesn't keep, or more than 1 MiB of it
 */
export function checkedJobPayload(job: string, payload: unknown): string | null {
  if (payload === undefined || payload === null) return null;
  const lost = lostInJson(payload);
  const problem = 'expected only what JSON keeps: null, true and false, numbers, texts, lists and plain objects';
  if (lost !== null) throw new JobPayloadError(job, [{ field: lost.join('.') || 'payload', problem }]);
  const json = JSON.stringify(payload);
  const bytes = Buffer.byteLength(json);
  if (bytes <= LARGEST_PAYLOAD) return json;
  const size = `expected at most ${LARGEST_PAYLOAD} bytes as JSON, got ${bytes}; store it elsewhere and hand over where it is`;
  throw new JobPayloadError(job, [{ field: 'payload', problem: size }]);
}
