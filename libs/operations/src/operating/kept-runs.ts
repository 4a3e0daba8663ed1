import type { RunHistory } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';
import { grouped } from './grouped.js';

/** However many crons there are, a few runs of each. */
const MIN_OF_CRON = 3;
const CRONS_AT_ONCE = 500;

export interface KeptBounds {
  /** Read of all crons together, about. */
  readonly maxRuns: number;
  /** Read of one cron. */
  readonly maxOfCron: number;
  /** Wanted of each cron at least. */
  readonly minOfCron?: number;
}

export interface KeptRuns {
  readonly runs: readonly Run[];
  /** Crons that may have more of them, older ones, than were read. */
  readonly cut: ReadonlySet<string>;
}

/**
 * Runs in a state of which the ledger keeps lists: all of them, or the newest of each cron. Few crons have many, so what the others
 * leave of the bound is read of those.
 */
export async function keptRuns(
  ledger: Pick<RunHistory, 'runsIn'>,
  { state, crons }: { readonly state: 'failed' | 'uncertain'; readonly crons: readonly string[] },
  { maxRuns, maxOfCron, minOfCron = MIN_OF_CRON }: KeptBounds,
): Promise<KeptRuns> {
  const found = new Map<string, readonly Run[]>();
  let [cut, perCron] = [crons, Math.max(minOfCron, share(maxRuns, crons.length))];
  for (;;) {
    const wanted = Math.max(minOfCron, Math.min(maxOfCron, perCron));
    for (const some of partsOf(cut)) {
      for (const [cron, runs] of grouped(await ledger.runsIn(state, some, wanted), ({ cron }) => cron)) {
        found.set(cron, runs);
      }
    }
    cut = cut.filter((cron) => (found.get(cron)?.length ?? 0) >= wanted);
    const isCut = new Set(cut);
    const taken = [...found].reduce((sum, [cron, runs]) => sum + (isCut.has(cron) ? 0 : runs.length), 0);
    perCron = share(maxRuns - taken, cut.length);
    // Twice as many, or the few more are not worth the questions.
    const isWorthIt = Math.min(maxOfCron, perCron) >= 2 * wanted;
    if (cut.length === 0 || !isWorthIt) return { runs: [...found.values()].flat(), cut: isCut };
  }
}

function share(runs: number, crons: number): number {
  return Math.floor(runs / Math.max(1, crons));
}

export function* partsOf(crons: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < crons.length; at += CRONS_AT_ONCE) yield crons.slice(at, at + CRONS_AT_ONCE);
}
