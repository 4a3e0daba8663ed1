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

/** Crons per call, one call after the other: workers share the server. */
const AT_ONCE = 200;

/**
 * Every so many sweeps, all crons are checked. A process that triggers a run asks the holder for a recheck, but may not learn
 * that the ledger accepted the run, may exit before it asks, or the request may get lost: without this, the run of an idle cron
 * would wait for the next instant of the cron, perhaps for a month.
 */
const ALL_EVERY = 12;

/** Between two slices of a backlog, so that what is due meanwhile is not held up. */
const SLICE_PAUSE_MS = 10;

/** Sweeps the crons with open runs until they have none: an idle cron costs next to nothing. */
export class Sweeper {
  /** All held crons. */
  readonly #watched = new Set<string>();
  readonly #restless = new Set<string>();
  /** In the call in progress. */
  readonly #inCall = new Set<string>();
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

  /** The cron may have open runs: it was taken over, claimed for, or rechecked. */
  watch(cron: string): void {
    this.#watched.add(cron);
    this.#restless.add(cron);
  }

  /** Given up: its next holder sweeps it. */
  leave(cron: string): void {
    this.#watched.delete(cron);
    this.#restless.delete(cron);
    this.#inCall.delete(cron);
  }

  /** Resolves when the sweep in progress has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    this.#watched.clear();
    this.#restless.clear();
    await this.#sweeping;
  }

  /** Armed when the previous sweep has ended: with a slow store, sweeps would pile up. */
  #arm(): void {
    if (this.#stopped) return;
    const { clock, recovery, sweepEveryMs } = this.deps;
    const unfinished = recovery.takeUnfinished().filter((cron) => this.#watched.has(cron));
    const leftMs = this.#nextAt - clock.monotonic();
    // A backlog does not wait for the next round: each cron that has one gets a slice in turn.
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
    // Leaves out crons that were given up since the round began. Deleted before the call: a cron that is claimed for meanwhile
    // must be swept again.
    for (const cron of crons) if (this.#restless.delete(cron)) this.#inCall.add(cron);
    if (this.#inCall.size === 0) return;
    const quiet = await this.deps.recovery.sweep([...this.#inCall]);
    for (const cron of quiet) this.#inCall.delete(cron);
    if (!this.#stopped) for (const cron of this.#inCall) this.#restless.add(cron);
    this.#inCall.clear();
  }
}
