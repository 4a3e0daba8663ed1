import { randomBytes } from 'node:crypto';

const BYTES = 15;
/** Random bytes are drawn for so many at once: drawn one by one they cost ten times as much. */
const DRAWN = 256;

let drawn = Buffer.alloc(0);
let used = 0;

/**
 * A word that nobody else has: 120 random bits in 20 characters. A UUID has 122 in 36, and a store and a pod each keep one for
 * every lease.
 */
export function randomNonce(): string {
  if (used === drawn.length) [drawn, used] = [randomBytes(BYTES * DRAWN), 0];
  used += BYTES;
  return drawn.toString('base64url', used - BYTES, used);
}
