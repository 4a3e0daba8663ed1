import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import type { Run, SkipRange } from '@fencepost/ledger/run';
import { parseSchedule } from '@fencepost/schedule';

/** How many instants ran, and how many did not for each reason. What is zero is left out. */
export type Tally = Readonly<Record<string, number>>;

/** Every instant that the generations of a cron have up to `end`, in order, worked out from nothing but the catalog. */
export function instantsOf(entry: CatalogEntry, end: number): { readonly at: number; readonly generation: number }[] {
  const generations = [...entry.past, entry];
  return generations.flatMap(({ state, definition, generation, since }, n) => {
    if (state !== 'active') return [];
    const schedule = parseSchedule({ ...definition, seed: definition.name }, since);
    const until = Math.min(end, generations[n + 1]?.since ?? Infinity);
    return [...schedule.between(since + 1, until + 1)].map((at) => ({ at, generation }));
  });
}

/**
 * Reads from the ledger what became of every instant up to `end`.
 * @throws {Error} for an instant that is not accounted for exactly once, and for a run that has no instant
 */
export async function recount(ledger: Ledger, entry: CatalogEntry, end: number): Promise<Tally> {
  const { name } = entry.definition;
  const runs = await ledger.runs(name, Number.MAX_SAFE_INTEGER);
  const skips = (await ledger.skips(name, Number.MAX_SAFE_INTEGER)).toSorted((a, b) => a.after - b.after);
  checkApart(skips);
  const scheduled = new Map(runs.filter(({ reason }) => reason !== 'manual').map((run) => [run.scheduledAt, run]));
  if (scheduled.size !== runs.filter(({ reason }) => reason !== 'manual').length)
    throw new Error('An instant ran twice.');
  const tally: Record<string, number> = {};
  let range = 0;
  for (const { at, generation } of instantsOf(entry, end)) {
    while ((skips[range]?.through ?? Infinity) < at) range += 1;
    const skip = skips[range];
    const found = fateOf(at, scheduled.get(at), skip && skip.after < at ? skip : undefined);
    if ((scheduled.get(at)?.generation ?? generation) !== generation)
      throw new Error(`${at} ran for another generation.`);
    scheduled.delete(at);
    tally[found] = (tally[found] ?? 0) + 1;
  }
  for (const at of scheduled.keys()) if (at <= end) throw new Error(`A run at ${at}, which is no instant.`);
  return tally;
}

function fateOf(at: number, run: Run | undefined, skip: SkipRange | undefined): string {
  if (run && skip) throw new Error(`${at} has a run and lies in a range that is ${skip.reason}.`);
  if (run) return run.skipped ?? (run.state === 'cancelled' ? 'cancelled' : 'ran');
  if (skip) return skip.reason;
  throw new Error(`${at} is not accounted for.`);
}

function checkApart(skips: readonly SkipRange[]): void {
  skips.forEach(({ after }, n) => {
    if (after < (skips[n - 1]?.through ?? 0)) throw new Error(`Two ranges overlap after ${after}.`);
  });
}
