import type { Clock } from '@fencepost/lease';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { Schedules, newestRange, type SharedSchedule } from '@fencepost/jobs/internal';
import type { HeldCron } from '@fencepost/jobs/internal/scheduling';
import { Telemetry } from '@fencepost/jobs';
import { OTHER, type CronLabels } from './cron-labels.js';
import type { Instruments } from './instruments.js';

export interface HeldGaugesDeps {
  readonly count: Instruments;
  readonly labels: CronLabels;
  readonly clock: Clock;
}

/** What is known without asking anybody: which crons this pod holds, and when they are due. */
export class HeldGauges {
  readonly #schedules: Schedules;
  readonly #intervals = new WeakMap<SharedSchedule, number | null>();

  constructor(private readonly deps: HeldGaugesDeps) {
    // Who fires the crons tells of schedules that can't be read; here it would be once for each look.
    this.#schedules = new Schedules({ clock: deps.clock, telemetry: new Telemetry() });
  }

  show(held: readonly HeldCron[]): void {
    const { count, labels } = this.deps;
    for (const gauge of [count.leaseHeld, count.nextFire, count.fireInterval]) gauge.reset();
    let earliestOther = Infinity;
    for (const one of held) {
      const { name } = one.entry.definition;
      const cron = labels.of(name);
      count.leaseHeld.inc({ cron });
      const due = this.#due(one);
      if (due === null) continue;
      if (cron === name) {
        count.nextFire.set({ cron }, due.at / 1_000);
        count.fireInterval.set({ cron }, due.intervalMs / 1_000);
      } else earliestOther = Math.min(earliestOther, due.at);
    }
    // The one of all of them that is late shows in the earliest.
    if (earliestOther < Infinity) count.nextFire.set({ cron: OTHER }, earliestOther / 1_000);
  }

  /** By the schedule alone, and once for all crons that share it. */
  intervalOf({ definition, state }: CatalogEntry): number | null {
    const schedule = state === 'active' ? this.#schedules.of(definition) : null;
    if (schedule === null) return null;
    const known = this.#intervals.get(schedule);
    if (known !== undefined) return known;
    const next = schedule.next(this.deps.clock.now());
    const intervalMs = next === null ? null : intervalAround(schedule, next);
    this.#intervals.set(schedule, intervalMs);
    return intervalMs;
  }

  #due(held: HeldCron): { readonly at: number; readonly intervalMs: number } | null {
    if (!held.known) return null;
    const range = newestRange(held, this.#schedules);
    if (!range?.schedule) return null;
    const next = range.schedule.next(Math.max(held.cursor ?? range.from, range.from));
    if (next === null) return null;
    return { at: next + range.spreadMs, intervalMs: intervalAround(range.schedule, next) };
  }
}

/** The longer side counts: a cron of working days has been silent for a whole weekend on a Monday. */
function intervalAround(schedule: SharedSchedule, instant: number): number {
  const [before, after] = [schedule.previous(instant), schedule.next(instant)];
  return Math.max(before === null ? 0 : instant - before, after === null ? 0 : after - instant);
}
