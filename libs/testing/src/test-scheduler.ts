import { randomUUID } from 'node:crypto';
import { parseFence, type Clock, type Lease } from '@fencepost/lease';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import { occurrenceId } from '@fencepost/ledger/run';
import { Schedules, newestRange, runnableCron, type GenerationRange, type RunQueue } from '@fencepost/jobs/internal';
import { Dispatcher, claimRequest, holdCron, type HeldCron } from '@fencepost/jobs/internal/scheduling';
import type { Telemetry } from '@fencepost/jobs';

export interface TestSchedulerDeps {
  readonly ledger: Ledger;
  readonly catalog: Pick<Catalog, 'read'>;
  readonly queue: RunQueue;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** After a claim that nobody answered. */
const AGAIN_MS = 250;

/** Holds all crons, as the only scheduler there is, and claims what is due with the code of a real one; without a timer. */
export class TestScheduler {
  readonly #held = new Map<string, HeldCron>();
  readonly #lookAt = new Map<HeldCron, number>();
  readonly #schedules: Schedules;
  readonly #dispatcher: Dispatcher;

  constructor(private readonly deps: TestSchedulerDeps) {
    const { clock, telemetry } = deps;
    this.#schedules = new Schedules({ clock, telemetry });
    const freshness = {
      get knownAt() {
        return clock.now();
      },
    };
    this.#dispatcher = new Dispatcher({ ...deps, schedules: this.#schedules, freshness });
  }

  /** When something is to be looked at next, `Infinity` for never. */
  get nextAt(): number {
    return Math.min(...this.#lookAt.values());
  }

  /** Claims and enqueues what is due now. */
  async dispatch(): Promise<void> {
    await this.#refresh();
    const now = this.deps.clock.now();
    const due = [...this.#lookAt].filter(([, at]) => at <= now).map(([held]) => held);
    const dispatched = await this.#dispatcher.dispatch(due);
    due.forEach((held, n) => {
      const one = dispatched[n];
      const lookAt = one && 'lookAt' in one ? (one.lookAt ?? Infinity) : now + AGAIN_MS;
      this.#lookAt.set(held, lookAt);
    });
  }

  /**
   * The instant that comes next, whatever else there is before it that nobody has accounted for; `null` for a cron without
   * instants.
   * @throws {UnknownCronError}
   */
  async next(cron: string): Promise<number | null> {
    const { held, range } = await this.#find(cron);
    if (!range?.schedule) return null;
    return range.schedule.next(Math.max(accounted(held, range), this.deps.clock.now() - 1));
  }

  /** What happens during `work` happens as if this cron had no instants. */
  async without(cron: string, work: () => Promise<void>): Promise<void> {
    const { held } = await this.#find(cron);
    this.#lookAt.set(held, Infinity);
    try {
      await work();
    } finally {
      this.#lookAt.set(held, this.deps.clock.now());
    }
  }

  /** When an instant is due: later than it for a cron that is spread. */
  async dueAt(cron: string, instant: number): Promise<number> {
    return instant + ((await this.#find(cron)).range?.spreadMs ?? 0);
  }

  /**
   * Claims this instant, which has come, and writes off those before it; then hands it to the queue.
   * @returns the id of the run, of one that was skipped too
   * @throws {RangeError} for an instant that is accounted for, or while the cron is paused
   */
  async claim(cron: string, instant: number): Promise<string> {
    const { held, range } = await this.#find(cron);
    if (!range) throw new RangeError(`Expected a cron that fires, got "${cron}", which is disabled.`);
    const from = accounted(held, range);
    if (instant <= from)
      throw new RangeError(`Expected an instant of "${cron}" after ${iso(from)}, got ${iso(instant)}.`);
    const last = range.schedule?.previous(instant) ?? null;
    const missed = last !== null && last > from ? [{ after: from, through: last, reason: 'misfire' } as const] : [];
    const dueAt = instant + range.spreadMs;
    const occurrence = { scheduledAt: instant, dueAt, reason: 'schedule', missed: null } as const;
    const request = claimRequest(held, { plan: { skips: missed, occurrence }, range }, randomUUID());
    const reply = await this.deps.ledger.claim(request);
    if (reply.verdict === 'skipped' && reply.reason === 'paused') throw new RangeError(`"${cron}" is paused.`);
    if (reply.verdict !== 'claimed' && reply.verdict !== 'skipped') {
      throw new Error(`Expected to claim ${iso(instant)} of "${cron}", got ${JSON.stringify(reply)}.`);
    }
    held.cursor = instant;
    this.#lookAt.set(held, this.deps.clock.now());
    if (reply.verdict === 'claimed') await this.#dispatcher.deliver([{ runId: reply.runId, delivery: 1 }]);
    return occurrenceId({ cron, scheduledAt: instant });
  }

  async #find(cron: string): Promise<{ readonly held: HeldCron; readonly range: GenerationRange | null }> {
    await runnableCron(this.deps.catalog, cron);
    await this.#refresh();
    const held = this.#held.get(cron);
    if (!held) throw new RangeError(`Expected a cron that the catalog has, got "${cron}".`);
    return { held, range: newestRange(held, this.#schedules) };
  }

  /** The catalog may have others by now, and others may have moved the cursor. */
  async #refresh(): Promise<void> {
    const { entries } = await this.deps.catalog.read();
    for (const entry of entries) {
      const { name } = entry.definition;
      const known = this.#held.get(name);
      if (known?.entry.generation === entry.generation) continue;
      const held = known ?? { ...holdCron(entry, leaseOf(name)), known: true };
      held.entry = entry;
      this.#held.set(name, held);
      this.#lookAt.set(held, this.deps.clock.now());
    }
  }
}

function accounted({ cursor }: HeldCron, { from }: GenerationRange): number {
  return Math.max(cursor ?? from, from);
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}

/** As if it had been acquired, and without an end: there is nobody else. */
function leaseOf(resource: string): Lease {
  return {
    ...{ resource, nonce: 'test', holder: 'test/1', ttlMs: 60_000, trustedUntil: Infinity, acquiredAt: new Date(0) },
    fence: parseFence('1'),
    signal: new AbortController().signal,
    release: async () => true,
    extend: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}
