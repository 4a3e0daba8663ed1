import { expect, it } from 'vitest';
import { randomNonce } from './identity.js';

it('is a word of its own each time, also beyond the bytes that are drawn at once', () => {
  const nonces = Array.from({ length: 5_000 }, () => randomNonce());
  expect(new Set(nonces).size).toBe(nonces.length);
  for (const nonce of nonces) expect(nonce).toMatch(/^[\w-]{20}$/);
});
