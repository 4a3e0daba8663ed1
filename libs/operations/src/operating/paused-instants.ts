import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { RunHistory } from '@fencepost/ledger';
import type { MissedRange, Pause } from '@fencepost/ledger/run';
import { generationsOf } from '@fencepost/jobs/internal';
import { scheduleOf } from './scheduled.js';

export interface PauseThatEnded {
  readonly entry: CatalogEntry;
  readonly pause: Pause;
  /** The store's clock, epoch milliseconds. */
  readonly now: number;
}

/** Instants are counted up to here; the range is told in full. */
const MAX_COUNTED = 10_000;

/**
 * The instants that were recorded as `paused` while the pause was in force; `null` for none.
 *
 * An instant from shortly before the pause that nobody had claimed yet was paused as well, which is why the cron's grace is
 * looked back.
 */
export async function pausedInstants(
  ledger: Pick<RunHistory, 'account'>,
  { entry, pause, now }: PauseThatEnded,
): Promise<MissedRange | null> {
  const cron = entry.definition.name;
  const from = pause.since - entry.definition.graceMs;
  const { skips } = await ledger.account(cron, from, now + 1);
  const ranges = skips.filter(({ reason }) => reason === 'paused');
  const instants = ranges.flatMap(({ after, through }) => instantsIn(entry, Math.max(after, from - 1), through));
  const [first, last] = [Math.min(...instants.map(({ from: at }) => at)), Math.max(...instants.map(({ to }) => to))];
  const count = instants.reduce((sum, { count: some }) => sum + some, 0);
  return count === 0 ? null : { count, from: first, to: last };
}

/** All of every active generation in `(after, through]`. */
function instantsIn(entry: CatalogEntry, after: number, through: number): MissedRange[] {
  const generations = generationsOf(entry);
  return generations.flatMap(({ definition, since, state }, index) => {
    const end = Math.min(through, generations[index + 1]?.since ?? Infinity);
    const begin = Math.max(after, since);
    if (state !== 'active' || begin >= end) return [];
    const schedule = scheduleOf(definition, since);
    let [count, from, to] = [0, 0, schedule.previous(end + 1) ?? 0];
    for (const instant of schedule.between(begin + 1, end + 1)) {
      if (count === 0) from = instant;
      if ((count += 1) === MAX_COUNTED) break;
    }
    return count === 0 ? [] : [{ count, from, to }];
  });
}
