import type { JournalEntry, Run } from '../../data/types.js';
import { fenceIn } from '../../ui/events.js';
import { WORDS } from '../../words.js';

const { refused: words } = WORDS.run;

/** What was refused, and so at which step of its attempt. */
export function stepText({ event, detail: { step, effect } }: JournalEntry): string {
  if (event === 'effect.late') return words.lateEffect(typeof effect === 'string' ? effect : '').trim();
  return (typeof step === 'string' && words.steps[step]) || words.anyStep;
}

type FencedRun = Pick<Run, 'fence'>;

interface Accepted {
  readonly fence: string;
  /** It is the one in force now: which it was at that moment, nobody wrote down. */
  readonly now: boolean;
}

/** The fence that a refused one was too small against; `null` when it was refused for another reason than that. */
export function acceptedFence(entry: JournalEntry, run: FencedRun): Accepted | null {
  const told = fenceIn(entry, 'accepted');
  if (told !== null) return { fence: told, now: false };
  return run.fence === null || run.fence === fenceIn(entry, 'fence') ? null : { fence: run.fence, now: true };
}

/** The refused fence against the accepted one. */
export function fencesText(entry: JournalEntry, run: FencedRun): string {
  const accepted = acceptedFence(entry, run);
  const fence = fenceIn(entry, 'fence') ?? WORDS.list.unknown;
  if (accepted === null) return words.latest(fence);
  return words.against(fence, accepted.fence, accepted.now);
}
