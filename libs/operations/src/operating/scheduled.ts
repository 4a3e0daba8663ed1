import type { CronDefinition } from '@fencepost/ledger/catalog';
import { Schedules } from '@fencepost/jobs/internal';
import { parseSchedule, ScheduleError, type CronSchedule } from '@fencepost/schedule';

/** Shared by crons with the same expression, zone and rules: a schedule takes 3.6 KB. The spread of each is its own, see `spreadOf`. */
type ReadSchedule = Omit<CronSchedule, 'spreadMs'>;

/** Beyond this many it starts anew. Whoever looks at thousands of crons every few seconds reads each schedule once. */
const MAX_KEPT = 20_000;

const READ = new Map<string, ReadSchedule>();

/** The schedule of a definition that was accepted at `since`. */
export function scheduleOf(definition: CronDefinition, since: number): ReadSchedule {
  const key = Schedules.keyOf(definition);
  const known = READ.get(key);
  if (known) return known;
  const schedule = parseSchedule({ ...definition, seed: definition.name }, since);
  if (READ.size >= MAX_KEPT) READ.clear();
  READ.set(key, schedule);
  return schedule;
}

/** The same; `null` for one that this program can't read: a newer build may have declared it. */
export function readableScheduleOf(definition: CronDefinition, since: number): ReadSchedule | null {
  try {
    return scheduleOf(definition, since);
  } catch (error) {
    if (error instanceof ScheduleError) return null;
    throw error;
  }
}
