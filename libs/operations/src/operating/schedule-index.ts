import { systemClock } from '@fencepost/lease';
import type { CatalogEntry, CronDefinition } from '@fencepost/ledger/catalog';
import { spreadOf } from '@fencepost/schedule';
import { Schedules, type SharedSchedule } from '@fencepost/jobs/internal';
import { Telemetry } from '@fencepost/jobs';
import { scheduleKey } from './scheduled.js';

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

/** Beyond this many it starts anew. */
const MAX_KEPT = 20_000;

/** Finds crons that have the same instants: thousands have a few expressions, and each is read and walked once. */
export class ScheduleIndex {
  // Nobody listens: a pod that can't read a schedule says so by itself.
  readonly #schedules = new Schedules({ clock: systemClock, telemetry: new Telemetry() });
  /** `null` for a schedule that can't be read here. */
  readonly #beats = new Map<string, Beat | null>();

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
    const key = scheduleKey(definition);
    const known = this.#beats.get(key);
    if (known !== undefined) return known;
    const schedule = this.#schedules.of(definition);
    const beat = schedule && { schedule, spreadMs: spreadOf(definition.name, schedule.spreadOverMs) };
    if (this.#beats.size >= MAX_KEPT) this.#beats.clear();
    this.#beats.set(key, beat);
    return beat;
  }
}
