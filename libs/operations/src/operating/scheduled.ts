import type { CronDefinition } from '@fencepost/ledger/catalog';
import { parseSchedule, ScheduleError, type CronSchedule } from '@fencepost/schedule';

/** Beyond this many it starts anew. Whoever looks at thousands of crons every few seconds reads each of them once. */
const MAX_KEPT = 20_000;

const READ = new Map<string, CronSchedule>();

/** The schedule of a definition that was accepted at `since`. */
export function scheduleOf(definition: CronDefinition, since: number): CronSchedule {
  const key = scheduleKey(definition);
  const known = READ.get(key);
  if (known) return known;
  const schedule = parseSchedule({ ...definition, seed: definition.name }, since);
  if (READ.size >= MAX_KEPT) READ.clear();
  READ.set(key, schedule);
  return schedule;
}

/** The same; `null` for one that this program can't read: a newer build may have declared it. */
export function readableScheduleOf(definition: CronDefinition, since: number): CronSchedule | null {
  try {
    return scheduleOf(definition, since);
  } catch (error) {
    if (error instanceof ScheduleError) return null;
    throw error;
  }
}

/** Of all that the instants of a cron come from, its name included: `H` and the spread are drawn from it. */
export function scheduleKey({ name, expression, timeZone, dst, spreadMs, minIntervalMs }: CronDefinition): string {
  return JSON.stringify([name, expression, timeZone, dst?.gap, dst?.repeat, spreadMs, minIntervalMs]);
}
