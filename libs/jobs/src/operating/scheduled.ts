import type { CronDefinition } from '../catalog/definition.js';
import { parseSchedule, type CronSchedule } from '../schedule/schedule.js';

/** The schedule of a definition that was accepted at `since`. */
export function scheduleOf(definition: CronDefinition, since: number): CronSchedule {
  return parseSchedule({ ...definition, seed: definition.name }, since);
}
