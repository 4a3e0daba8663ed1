/** What is claimed, by the names that promela/world.pml has for it. The I are those of the protocols. */
export const CLAIMS = {
  I1: 'one run per instant',
  I3: 'accepted scheduler fences never decrease, and an accepted fence belongs to one term',
  I4: 'run fences strictly increase',
  I5: 'only the current fence and nonce change a running run',
  I6: 'a terminal state is final',
  I7: 'an effect that asks never happens twice by itself',
  I8: 'done is never overwritten',
  I9: 'every claimed run ends',
  I10: 'attempts are bounded',
  LEASE: 'two pods trust their terms at once only if the store has lost an acknowledged write',
  TERM: 'a term that was followed by another one is never extended',
  FLOOR: 'a new term is refused only if a newer one has been accepted since it asked',
  ALONE: 'two workers never trust their run leases at once',
  SAME: 'a repeated begin is answered as the first one was',
  SINK: 'the fences of a row never go back, and an older attempt never writes after a newer one',
  KEY: 'a provider carries a key out once',
} as const;

export type Claim = keyof typeof CLAIMS;

export function isClaim(word: string): word is Claim {
  return Object.hasOwn(CLAIMS, word);
}
