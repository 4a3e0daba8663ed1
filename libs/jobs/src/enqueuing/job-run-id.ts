import { createHash } from 'node:crypto';

/** What may stand in a run id as it is: BullMQ and all stores take it. */
const PLAIN = /^[A-Za-z0-9._-]{1,100}$/;

/**
 * What already means something else: an instant, a run that a person asked for, a key that was hashed, and what would be
 * taken for another delivery of a run, or for the re-run of an instant.
 */
const TAKEN = /^\d+$|^manual-|^key-|-[dr]\d+$/;

/**
 * The id of the run that an idempotency key stands for: the key as it is where that can't be mistaken for anything else, so
 * that people find it again, else a hash of it.
 */
export function runIdOfKey(job: string, key: string): string {
  if (PLAIN.test(key) && !TAKEN.test(key)) return `${job}@${key}`;
  // As JSON: halves of surrogate pairs, which UTF-8 can't tell apart, stay different.
  const hash = createHash('sha256').update(JSON.stringify(key)).digest('hex');
  return `${job}@key-${hash.slice(0, 40)}`;
}
