import type { CatalogEntry, Generation } from '../../../libs/ledger/src/catalog/definition.js';
import type { Account } from '../../../libs/ledger/src/base/ledger.js';
import type { Run, SkipRange } from '../../../libs/ledger/src/base/run.js';
import { occurrenceId } from '../../../libs/ledger/src/base/occurrence.js';
import { parseSchedule } from '../../../libs/schedule/src/schedule.js';
import { demand } from './violation.js';

interface Recorded extends Account {
  readonly cursor: number | null;
  /** Instants that were due up to here have to be behind the cursor. */
  readonly dueBy: number;
}

/**
 * Goes through all instants of a cron one by one, and says how many there were.
 * @throws {Violation} for one that has neither a run nor a recorded skip, or both, or is overdue
 */
export function countInstants(entry: CatalogEntry, recorded: Recorded): number {
  const { name } = entry.definition;
  const { cursor, forgotten, dueBy } = recorded;
  const runs = new Map(recorded.runs.map((run) => [run.id, run]));
  const skipOf = finder(recorded.skips);
  let count = 0;
  for (const { at, dueAt } of instantsOf(entry, dueBy)) {
    if (forgotten !== null && at <= forgotten) continue;
    demand(at <= (cursor ?? 0), 'liveness', () => `${name} is at ${cursor}, and ${at} was due at ${dueAt}`);
    checkFate(`${name}@${at}`, runs.get(occurrenceId({ cron: name, scheduledAt: at })), skipOf(at));
    count += 1;
  }
  return count;
}

function checkFate(id: string, run: Run | undefined, skip: SkipRange | undefined): void {
  demand(run !== undefined || skip !== undefined, 'I2', () => `${id} has no run, and no recorded skip`);
  // What was written off may be run later, when somebody asks for it.
  const once = !run || !skip || run.reason === 'backfill';
  demand(once, 'I2', () => `${id} ran (${run?.reason}), and lies in a range that is ${skip?.reason}`);
}

/** For ascending instants. Ranges that overlap account for an instant twice. */
function finder(skips: readonly SkipRange[]): (at: number) => SkipRange | undefined {
  const ranges = skips.toSorted((a, b) => a.after - b.after);
  ranges.forEach(({ after }, n) => {
    const through = ranges[n - 1]?.through ?? 0;
    demand(through <= after, 'I2', () => `a range after ${after} begins before the one through ${through} ends`);
  });
  let n = 0;
  return (at) => {
    while ((ranges[n]?.through ?? Infinity) < at) n += 1;
    const range = ranges[n];
    return range && range.after < at ? range : undefined;
  };
}

interface Instant {
  readonly at: number;
  readonly dueAt: number;
}

/** From the schedules alone, step by step: neither the engine nor the auditor goes this way. */
function instantsOf(entry: CatalogEntry, dueBy: number): Instant[] {
  const generations = [...entry.past, entry];
  return generations.flatMap((generation, n) => {
    return generation.state === 'firing' ? stepsOf(generation, generations[n + 1]?.since ?? Infinity, dueBy) : [];
  });
}

function stepsOf({ definition, since }: Generation, until: number, dueBy: number): Instant[] {
  const schedule = parseSchedule({ ...definition, seed: definition.name }, since);
  const found: Instant[] = [];
  for (let at = schedule.next(since); at !== null && at <= until; at = schedule.next(at)) {
    const dueAt = at + schedule.spreadMs;
    if (dueAt > dueBy) break;
    found.push({ at, dueAt });
  }
  return found;
}
