/** What names a secret, wherever it stands in a name: `dbPassword`, `X-Api-Key`, `refresh_token`. A source for patterns. */
export const SECRET_WORDS =
  'passw(?:or)?d|passphrase|pwd|secret|token|authorization|cookie|api[-_]?key|access[-_]?key|private[-_]?key|credential|signature|jwt';

/** A payload is no secret, but it is the user's, and may hold any. */
const SECRET_KEY = new RegExp(`${SECRET_WORDS}|payload|^(?:auth|sig|key|pass|session|session[-_]?id)$`, 'i');

/** A log has some dozens of field names; the cache must stay bounded if names never end. */
const MAX_KEPT = 1_000;

const known = new Map<string, boolean>();

/** Whether a field of this name is hidden. Cached: matching the pattern for every field would be most of the cost. */
export function isSecretKey(key: string): boolean {
  const answer = known.get(key);
  if (answer !== undefined) return answer;
  const found = SECRET_KEY.test(key);
  if (known.size >= MAX_KEPT) known.clear();
  known.set(key, found);
  return found;
}
