import type { CancelTimer, Clock, Lease } from '@fencepost/lease';
import type { CatalogEntry } from '../catalog/definition.js';
import type { Ledger } from '../ledger/ledger.js';
import type { CronSchedule } from '../schedule/schedule.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Dispatched, Dispatcher } from './dispatcher.js';
import { DueIndex } from './due-index.js';
import type { HeldCron } from './held-cron.js';
import type { Recovery } from './recovery.js';

export interface EngineDeps {
  readonly ledger: Ledger;
  readonly dispatcher: Dispatcher;
  readonly recovery: Recovery;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Between two sweeps of the crons held. */
  readonly sweepEveryMs: number;
}

/** A cron of the catalog, its schedule parsed. */
export interface ScheduledCron {
  readonly entry: CatalogEntry;
  readonly schedule: CronSchedule;
}

/** The wall clock may be stepped while the timer waits, so it never waits longer than this without looking again. */
const LONGEST_WAIT_MS = 30_000;

/** After a store or the queue did not answer: short at first, because an occurrence is waiting, then doubled. */
const RETRY_MS = 250;
const LONGEST_RETRY_MS = 1_000;

/** After so many failures in a row the cron is given up: another pod may reach what this one can't. */
const MOST_FAILURES = 10;

/** Fires the crons this pod holds: one timer for all of them, armed for the earliest. */
export class Engine {
  readonly #held = new Map<string, HeldCron>();
  readonly #due = new DueIndex();
  readonly #working = new Set<Promise<void>>();
  #cancelTimer: CancelTimer = () => {};
  #cancelSweep: CancelTimer = () => {};
  #stopped = false;

  constructor(private readonly deps: EngineDeps) {}

  start(): void {
    this.#armSweep();
  }

  /**
   * Acts for a cron until the lease ends or a claim is refused: recovers what the predecessor left, looks back, fires.
   * Resolves when this pod has stopped claiming for it.
   */
  async hold(cron: ScheduledCron, lease: Lease): Promise<void> {
    // A lease that arrives after the stop must not set anything going again.
    const { signal } = lease;
    if (this.#stopped || signal.aborted) return;
    const over = new AbortController();
    const drop = () => over.abort();
    const held: HeldCron = { ...cron, lease, cursor: null, known: false, failures: 0, aheadMs: 0, drop };
    const ended = new Promise((resolve) => over.signal.addEventListener('abort', resolve, { once: true }));
    signal.addEventListener('abort', drop, { once: true });
    this.#held.set(cron.entry.definition.name, held);
    this.#lookAt(held, this.deps.clock.now());
    await ended;
    signal.removeEventListener('abort', drop);
    this.#release(held);
  }

  /** Stops claiming at once; resolves when the claims already on their way are through. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelSweep();
    for (const held of [...this.#held.values()]) this.#release(held);
    await Promise.all(this.#working);
  }

  #release(held: HeldCron): void {
    const { name } = held.entry.definition;
    if (this.#held.get(name) === held) {
      this.#held.delete(name);
      this.#due.remove(name);
      this.#arm();
    }
    held.drop();
  }

  #lookAt(held: HeldCron, at: number | null): void {
    const { name } = held.entry.definition;
    if (this.#held.get(name) !== held) return;
    if (at === null) this.#due.remove(name);
    else this.#due.set(name, at);
    this.#arm();
  }

  #arm(): void {
    this.#cancelTimer();
    const at = this.#due.earliest();
    if (at === null) return;
    const wait = Math.min(at - this.deps.clock.now(), LONGEST_WAIT_MS);
    this.#cancelTimer = this.deps.clock.after(wait, () => this.#fire());
  }

  #fire(): void {
    const names = this.#due.takeDue(this.deps.clock.now());
    const due = names.flatMap((name) => this.#held.get(name) ?? []);
    if (due.length > 0) this.#track(this.#dispatch(due));
    this.#arm();
  }

  async #dispatch(due: readonly HeldCron[]): Promise<void> {
    const learned = await Promise.all(due.map((held) => this.#learn(held)));
    const known = due.filter((_, index) => learned[index]);
    const dispatched = await this.deps.dispatcher.dispatch(known);
    known.forEach((held, index) => this.#follow(held, dispatched[index] ?? { failed: true }));
  }

  /** Where the cron stands, and what a predecessor, or a failed try of our own, claimed and perhaps never enqueued. */
  async #learn(held: HeldCron): Promise<boolean> {
    if (held.known) return true;
    const { name } = held.entry.definition;
    held.known = await this.#guard(`recovery of ${name}`, async () => {
      held.cursor = (await this.deps.ledger.readCron(name)).cursor;
      await this.deps.recovery.recoverPending(name);
    });
    if (!held.known) this.#follow(held, { failed: true });
    return held.known;
  }

  #follow(held: HeldCron, dispatched: Dispatched): void {
    if ('stale' in dispatched) return this.#release(held);
    if ('lookAt' in dispatched) {
      held.failures = 0;
      return this.#lookAt(held, dispatched.lookAt);
    }
    // Whatever was asked may have happened all the same, so what is known of the cron is read again.
    held.known = false;
    held.failures += 1;
    if (held.failures === MOST_FAILURES) return this.#release(held);
    const wait = Math.min(RETRY_MS * 2 ** (held.failures - 1), LONGEST_RETRY_MS);
    this.#lookAt(held, this.deps.clock.now() + wait);
  }

  /** Armed when the sweep before has ended: over a store that is slow to answer, sweeps would pile up. */
  #armSweep(): void {
    if (this.#stopped) return;
    this.#cancelSweep = this.deps.clock.after(this.deps.sweepEveryMs, () => {
      this.#track(this.#sweep().then(() => this.#armSweep()));
    });
  }

  async #sweep(): Promise<void> {
    for (const name of [...this.#held.keys()]) {
      // Given up meanwhile, or stopped: somebody else's to sweep.
      if (this.#held.has(name)) await this.#guard(`sweep of ${name}`, () => this.deps.recovery.sweep(name));
    }
  }

  async #guard(doing: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.deps.telemetry.emit('store.trouble', { doing, error: String(error) });
      return false;
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }
}
