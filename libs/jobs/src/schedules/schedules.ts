import type { Clock } from '@fencepost/lease';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { resolvedExpression, parseSchedule } from '@fencepost/schedule';
import { asError } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { SharedSchedule, SharedSchedules } from './generation-ranges.js';

export interface SchedulesDeps {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** The cache is cleared beyond this many schedules; crons keep theirs. */
const MAX_KEPT = 10_000;

/**
 * The schedules of all crons, cached by expression: a hundred thousand crons have few different ones.
 *
 * A worker has validated the expression, but this pod may have another parser or zone database.
 */
export class Schedules implements SharedSchedules {
  readonly #parsed = new Map<string, SharedSchedule>();

  constructor(private readonly deps: SchedulesDeps) {}

  of(definition: CronDefinition): SharedSchedule | null {
    try {
      const key = keyOf(definition);
      const known = this.#parsed.get(key);
      if (known) return known;
      const parsed = parseSchedule({ ...definition, seed: definition.name }, this.deps.clock.now());
      if (this.#parsed.size >= MAX_KEPT) this.#parsed.clear();
      this.#parsed.set(key, parsed);
      return parsed;
    } catch (error) {
      this.deps.telemetry.emit('catalog.unreadable', { cron: definition.name, err: asError(error) });
      return null;
    }
  }
}

/** `H` is replaced by numbers derived from the name; crons with the same numbers share a schedule. */
function keyOf({ name, expression, timeZone, dst, spreadMs, minIntervalMs }: CronDefinition): string {
  const resolved = /h/i.test(expression) ? resolvedExpression(expression, name) : null;
  return JSON.stringify([expression, resolved, timeZone, dst?.gap, dst?.repeat, spreadMs, minIntervalMs]);
}
