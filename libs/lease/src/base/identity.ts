import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

const UNFIT_FOR_A_LABEL = /[^A-Za-z0-9._-]+/g;
const MAX_LABEL_LENGTH = 64;

/**
 * The identity of this process: `<label>/<uuid>`, new with every call.
 *
 * The random part is the identity. Host and pod names repeat (a stateful set gives a restarted pod its old name back), so
 * they only serve as a label for people.
 * @param label defaults to the host's name
 */
export function processIdentity(label: string = hostname()): string {
  return `${label.replace(UNFIT_FOR_A_LABEL, '-').slice(0, MAX_LABEL_LENGTH)}/${randomUUID()}`;
}

/** A holder as logs show it: the label and enough of the random part to distinguish two, never all of it. */
export function ownerPrefix(holder: string): string {
  const end = holder.lastIndexOf('/') + 1;
  return holder.slice(0, end) + holder.slice(end, end + 8);
}

/** A resource as logs show it: names may contain customer ids. 12 hexadecimal digits of its SHA-256. */
export function hashResource(resource: string): string {
  return createHash('sha256').update(resource).digest('hex').slice(0, 12);
}

const NONCE_BYTES = 15;
/** Random bytes are drawn for so many at once: drawn one by one they cost ten times as much. */
const DRAWN = 256;

let drawn = Buffer.alloc(0);
let used = 0;

/**
 * A word that nobody else has: 120 random bits in 20 characters. A UUID has 122 in 36, and a store and a pod each keep one for
 * every lease.
 */
export function randomNonce(): string {
  if (used === drawn.length) [drawn, used] = [randomBytes(NONCE_BYTES * DRAWN), 0];
  used += NONCE_BYTES;
  return drawn.toString('base64url', used - NONCE_BYTES, used);
}
