import type { SkipRange } from '@fencepost/ledger/run';

/** Answers for ascending instants which recorded range has each, `null` for none. */
export function skipCover(skips: readonly SkipRange[]): (instant: number) => SkipRange | null {
  const ranges = skips.toSorted((a, b) => a.after - b.after);
  let begun = 0;
  // Of those that begin before the instant, the one that reaches furthest has it, or none does.
  let furthest: SkipRange | null = null;
  return (instant) => {
    for (let range = ranges[begun]; range && range.after < instant; range = ranges[(begun += 1)]) {
      if (furthest === null || range.through > furthest.through) furthest = range;
    }
    return furthest && instant <= furthest.through ? furthest : null;
  };
}
