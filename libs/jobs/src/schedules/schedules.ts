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

/** Beyond this many different ones it starts anew; whoever has one keeps it. */
const MAX_KEPT = 10_000;

/**
 * The schedules of all crons, parsed once for equal ones: a hundred thousand crons have a few expressions.
 *
 * A worker has checked the expression already; this pod's parser or zone database may still be another one.
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

/** `H` stands for numbers that come from the name; crons that got the same ones are equal again. */
function keyOf({ name, expression, timeZone, dst, spreadMs, minIntervalMs }: CronDefinition): string {
  const resolved = /h/i.test(expression) ? resolvedExpression(expression, name) : null;
  return JSON.stringify([expression, resolved, timeZone, dst?.gap, dst?.repeat, spreadMs, minIntervalMs]);
}
