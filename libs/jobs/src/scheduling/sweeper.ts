import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Recovery } from './recovery.js';

export interface SweeperDeps {
  readonly recovery: Recovery;
  readonly clock: Clock;
  readonly sweepEveryMs: number;
  readonly owner: SweepOwner;
}

export interface SweepOwner {
  /** Called with every watched cron, in batches, once in {@link ALL_EVERY} sweeps. */
  compare(crons: readonly string[]): Promise<void>;
}

/** Asked about in one call, and one call after the other: workers are busy with what the crons have open. */
const AT_ONCE = 200;

/**
 * So many sweeps, and all crons are asked about once. Whoever makes a run for somebody tells the pods, but may not hear that
 * the ledger has accepted it, may end before it tells, or its word may get lost: without this the run of an idle cron would
 * wait until the cron's next instant, for a month perhaps.
 */
const ALL_EVERY = 12;

/** Between two slices of a backlog, so that what is due meanwhile is not held up. */
const SLICE_PAUSE_MS = 10;

/** Sweeps the crons that have open runs, again and again until they have none: an idle cron costs next to nothing. */
export class Sweeper {
  /** All that are watched: from when they were taken over until they are given up. */
  readonly #watched = new Set<string>();
  readonly #restless = new Set<string>();
  /** Being asked about right now. */
  readonly #asked = new Set<string>();
  #cancel: CancelTimer = () => {};
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;
  #sweeps = 0;
  /** When the next round is due. Monotonic. */
  #nextAt = 0;

  constructor(private readonly deps: SweeperDeps) {}

  start(): void {
    this.#nextAt = this.deps.clock.monotonic() + this.deps.sweepEveryMs;
    this.#arm();
  }

  /** It may have open runs: taken over, claimed for, or asked about. */
  watch(cron: string): void {
    this.#watched.add(cron);
    this.#restless.add(cron);
  }

  /** Given up: somebody else's to sweep. */
  leave(cron: string): void {
    this.#watched.delete(cron);
    this.#restless.delete(cron);
    this.#asked.delete(cron);
  }

  /** Resolves when the sweep that was on its way is through. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    this.#watched.clear();
    this.#restless.clear();
    await this.#sweeping;
  }

  /** Armed when the sweep before has ended: over a store that is slow to answer, sweeps would pile up. */
  #arm(): void {
    if (this.#stopped) return;
    const { clock, recovery, sweepEveryMs } = this.deps;
    const unfinished = recovery.takeUnfinished().filter((cron) => this.#watched.has(cron));
    const leftMs = this.#nextAt - clock.monotonic();
    // A backlog is not left to the next round: each cron that has one gets a slice, all of them in turn.
    if (unfinished.length > 0 && leftMs > SLICE_PAUSE_MS) {
      for (const cron of unfinished) this.#restless.add(cron);
      this.#cancel = clock.after(SLICE_PAUSE_MS, () => {
        this.#sweeping = this.#sweepAll(unfinished, false).then(() => this.#arm());
      });
      return;
    }
    this.#cancel = clock.after(Math.max(leftMs, 0), () => {
      this.#sweeps += 1;
      const isAll = this.#sweeps % ALL_EVERY === 0;
      if (isAll) for (const cron of this.#watched) this.#restless.add(cron);
      this.#sweeping = this.#sweepAll([...this.#restless], isAll).then(() => {
        this.#nextAt = clock.monotonic() + sweepEveryMs;
        this.#arm();
      });
    });
  }

  async #sweepAll(crons: readonly string[], isAll: boolean): Promise<void> {
    for (let n = 0; n < crons.length; n += AT_ONCE) {
      const some = crons.slice(n, n + AT_ONCE);
      await this.#sweep(some);
      if (isAll && !this.#stopped) await this.deps.owner.compare(some);
    }
  }

  async #sweep(crons: readonly string[]): Promise<void> {
    // Also leaves out what was given up, or stopped, since the round began. Before asking: what is claimed meanwhile has
    // to be looked at again.
    for (const cron of crons) if (this.#restless.delete(cron)) this.#asked.add(cron);
    if (this.#asked.size === 0) return;
    const quiet = await this.deps.recovery.sweep([...this.#asked]);
    for (const cron of quiet) this.#asked.delete(cron);
    if (!this.#stopped) for (const cron of this.#asked) this.#restless.add(cron);
    this.#asked.clear();
  }
}
