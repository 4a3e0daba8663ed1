import type { CronDefinition } from '@fencepost/ledger/catalog';
import { parseSchedule, type CronSchedule } from '@fencepost/schedule';

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

/** Of all that the instants of a cron come from, its name included: `H` and the spread are drawn from it. */
export function scheduleKey({ name, expression, timeZone, dst, spreadMs, minIntervalMs }: CronDefinition): string {
  return JSON.stringify([name, expression, timeZone, dst?.gap, dst?.repeat, spreadMs, minIntervalMs]);
}
