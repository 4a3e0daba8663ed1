import type { Holding } from '../store/lease-store.js';
import type { Ballot, Tally } from './quorum-count.js';
import type { Quorum } from './quorum-poll.js';

type Views = Tally<(Holding | null)[]>;

/**
 * What a majority of nodes shows of the `at`-th resource, or `undefined` while that is open. A term that is on fewer nodes is
 * a term about to be acquired or released; it doesn't hold the resource.
 */
export function majorityHolding(quorum: Quorum, { answers, open }: Views, at: number): Holding | null | undefined {
  const groups = byHolder(answers, at);
  const holding = groups.find((group) => group.length >= quorum.majority);
  // Where nodes show different fences, the one that counts is on a majority of all nodes and not of those that were quick.
  if (holding) return open > 0 && !isAgreed(holding, quorum.majority) ? undefined : agreed(holding, quorum.majority);
  const closest = Math.max(0, ...groups.map((group) => group.length));
  return closest + open < quorum.majority ? null : undefined;
}

function byHolder(answers: readonly Ballot<(Holding | null)[]>[], at: number): Holding[][] {
  const groups = new Map<string, Holding[]>();
  for (const { answer } of answers) {
    const holding = answer[at];
    if (holding) groups.set(holding.holder, [...(groups.get(holding.holder) ?? []), holding]);
  }
  return [...groups.values()];
}

function isAgreed(holdings: readonly Holding[], majority: number): boolean {
  return holdings.some((one) => holdings.filter(({ fence }) => fence === one.fence).length >= majority);
}

/** Until a majority is free. With the fence in the middle: a node that issued a larger one was not heard at first. */
function agreed(holdings: readonly Holding[], majority: number): Holding {
  const [first] = holdings as [Holding];
  const fences = holdings.map(({ fence }) => fence).toSorted((a, b) => a - b);
  const longest = holdings.map(({ remainingMs }) => remainingMs).toSorted((a, b) => b - a);
  const fence = fences[Math.ceil(fences.length / 2) - 1] ?? first.fence;
  return { holder: first.holder, fence, remainingMs: longest[majority - 1] ?? 0 };
}
