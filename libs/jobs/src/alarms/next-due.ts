import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { spreadOf } from '@fencepost/schedule';
import type { SharedSchedules } from '../scheduling/generation-ranges.js';

export type Schedules = SharedSchedules;

/**
 * When the first instant of the newest generation that nobody has accounted for is due, epoch milliseconds; `null` for none.
 * Earlier generations are left out: their last instants are accounted for by whoever takes the cron over, at once.
 */
export function nextDue(
  schedules: Schedules,
  { definition, since }: CatalogEntry,
  cursor: number | null,
): number | null {
  const schedule = schedules.of(definition);
  const next = schedule?.next(Math.max(since, cursor ?? since)) ?? null;
  return schedule && next !== null ? next + spreadOf(definition.name, schedule.spreadOverMs) : null;
}
