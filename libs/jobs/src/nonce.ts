import { randomBytes } from 'node:crypto';

/** 16 letters of 96 random bits: a run's record keeps two of them, and a UUID would be 20 bytes longer each. */
export function newNonce(): string {
  return randomBytes(12).toString('base64url');
}
