import { systemClock } from '@fencepost/lease';
import type { CatalogEntry, CronDefinition } from '@fencepost/ledger/catalog';
import { spreadOf } from '@fencepost/schedule';
import { Schedules, type SharedSchedule } from '@fencepost/jobs/internal';
import { Telemetry } from '@fencepost/jobs';

/** Crons that have the same instants, by how much later than them they are due. */
export interface Rhythm {
  readonly schedule: SharedSchedule;
  /** Names by milliseconds. */
  readonly bySpread: ReadonlyMap<number, readonly string[]>;
}

interface Beat {
  readonly schedule: SharedSchedule;
  readonly spreadMs: number;
}

/** Finds crons that have the same instants: thousands have a few expressions, and each is read and walked once. */
export class ScheduleIndex {
  // Nobody listens: a pod that can't read a schedule says so by itself.
  readonly #schedules = new Schedules({ clock: systemClock, telemetry: new Telemetry() });
  /** `null` for a schedule that can't be read here. */
  readonly #beats = new WeakMap<CronDefinition, Beat | null>();

  of(entries: readonly CatalogEntry[]): Rhythm[] {
    const found = new Map<SharedSchedule, Map<number, string[]>>();
    for (const { definition } of entries) {
      const beat = this.#beatOf(definition);
      if (beat === null) continue;
      const bySpread = found.get(beat.schedule) ?? new Map<number, string[]>();
      const names = bySpread.get(beat.spreadMs);
      if (names) names.push(definition.name);
      else bySpread.set(beat.spreadMs, [definition.name]);
      found.set(beat.schedule, bySpread);
    }
    return [...found].map(([schedule, bySpread]) => ({ schedule, bySpread }));
  }

  #beatOf(definition: CronDefinition): Beat | null {
    const known = this.#beats.get(definition);
    if (known !== undefined) return known;
    const schedule = this.#schedules.of(definition);
    const beat = schedule && { schedule, spreadMs: spreadOf(definition.name, schedule.spreadOverMs) };
    this.#beats.set(definition, beat);
    return beat;
  }
}
