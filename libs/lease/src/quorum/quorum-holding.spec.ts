import { describe, expect, it } from 'vitest';
import { majorityHolding } from './quorum-holding.js';

/** What five nodes show so far: the fences of one holder, and how many nodes are still to answer. */
function shown(fences: readonly number[], open: number) {
  const answers = fences.map((fence) => ({ answer: [{ holder: 'pod/1', fence, remainingMs: 1_000 }] }));
  return majorityHolding({ majority: 3 } as never, { answers, failures: [], open } as never, 0);
}

describe('what a quorum shows of a resource', () => {
  it('is decided by a majority that agrees, whoever has not answered yet', () => {
    expect(shown([7, 7, 7], 2)).toMatchObject({ holder: 'pod/1', fence: 7 });
  });

  it('waits where quick nodes have fences of their own, for the one that a majority of all has', () => {
    expect(shown([5, 9, 7], 2)).toBeUndefined();
    expect(shown([5, 9, 7, 7], 1)).toBeUndefined();
    expect(shown([5, 9, 7, 7, 7], 0)).toMatchObject({ fence: 7 });
  });

  it('is said all the same when nobody is left to answer', () => {
    expect(shown([5, 9, 7], 0)).toMatchObject({ fence: 7 });
  });
});
