import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { between, oneOf } from '../draw.js';
import type { Fault } from '../fault.js';
import type { FaultyLink } from '../faulty-link.js';
import { storeFault } from '../fault.js';

const CUT_MS = { least: 500, most: 3_000 };
const DROPPING_MS = { least: 300, most: 1_500 };

/**
 * What happens between processes and a store.
 * @param store for the kinds' names, such as `redis`
 * @param links as they are now, one for each process
 */
export function linkFaults(store: string, links: () => readonly FaultyLink[]): Fault[] {
  const some = (random: () => number) => {
    const all = links();
    const chosen = all.filter(() => random() < 0.5);
    const one = oneOf(all, random);
    return chosen.length > 0 || !one ? chosen : [one];
  };
  const onSome = (kind: string, during: (chosen: readonly FaultyLink[], random: () => number) => Wound): Fault =>
    storeFault(kind, async (signal, random) => {
      const { forMs, mend } = during(some(random), random);
      await sleep(systemClock, forMs, signal);
      mend();
    });
  return [
    onSome(`${store}-partitioned`, (chosen, random) => {
      for (const link of chosen) link.cut();
      // Whether anybody is told that the old connections are dead.
      const how = random() < 0.5 ? 'reset' : 'silent';
      return { forMs: between(CUT_MS, random), mend: () => chosen.forEach((link) => link.heal(how)) };
    }),
    onSome(`${store}-delayed`, (chosen, random) => {
      for (const link of chosen) link.hold();
      return { forMs: between(CUT_MS, random), mend: () => chosen.forEach((link) => link.heal('deliver')) };
    }),
    onSome(`${store}-replies-dropped`, (chosen, random) => {
      for (const link of chosen) link.dropReplies(true);
      return { forMs: between(DROPPING_MS, random), mend: () => chosen.forEach((link) => link.dropReplies(false)) };
    }),
  ];
}

interface Wound {
  readonly forMs: number;
  readonly mend: () => void;
}
