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
  /** Called with every watched cron, once in {@link ALL_EVERY} sweeps. */
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

/**
 * Of the idle crons, one in this many is looked at in full each time, about once in two days each. The records of an idle cron that
 * are beyond those kept are deleted after its last run; this is for those whose deletion failed.
 */
const FULL_LOOK_ONE_IN = 2_880;

/** Of the new crons, so many are asked about in a round: a pod that boots has other things to do. */
const NEW_AT_ONCE = 10_000;

/** Between two slices of a backlog, so that what is due meanwhile is not held up. */
const SLICE_PAUSE_MS = 10;

/** How much longer than the last wait for a look at a cron the next may be. */
const LONGER = 1.25;

/** Sweeps the crons with open runs until they have none: an idle cron costs next to nothing. */
export class Sweeper {
  /** All held crons, in the order in which they came. */
  readonly #watched = new Set<string>();
  readonly #restless = new Set<string>();
  /** In the call in progress. */
  readonly #inCall = new Set<string>();
  /** Those that do not wait for the next round; monotonic. */
  readonly #early = new Map<string, { readonly lookedAt: number; readonly dueAt: number }>();
  /** Since it was armed last. */
  readonly #looked = new Set<string>();
  #cancel: CancelTimer = () => {};
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;
  #sweeps = 0;
  /** How many of the last ones have not been asked about. */
  #unasked = 0;
  /** When the next round is due. Monotonic. */
  #nextAt = 0;

  constructor(private readonly deps: SweeperDeps) {}

  start(): void {
    this.#nextAt = this.deps.clock.monotonic() + this.deps.sweepEveryMs;
    this.#arm();
  }

  /** The cron is held from now on: whether it has open runs is asked in one of the next rounds. */
  add(cron: string): void {
    this.#watched.add(cron);
    this.#unasked += 1;
  }

  /** The cron may have open runs: something was claimed for it, in this term or an earlier one, or it was rechecked. */
  watch(cron: string): void {
    this.#watched.add(cron);
    this.#restless.add(cron);
  }

  /** Given up: its next holder sweeps it. */
  leave(cron: string): void {
    this.#watched.delete(cron);
    this.#restless.delete(cron);
    this.#inCall.delete(cron);
    this.#early.delete(cron);
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
    const { clock } = this.deps;
    this.#planEarly(clock.monotonic());
    const early = [...this.#early.values()].reduce((least, { dueAt }) => Math.min(least, dueAt), Infinity);
    this.#cancel = clock.after(Math.max(0, Math.min(early, this.#nextAt) - clock.monotonic()), () => {
      const sweeping = clock.monotonic() < this.#nextAt ? this.#slice() : this.#round();
      this.#sweeping = sweeping.then(() => this.#arm());
    });
  }

  /**
   * A cron whose runs pile up faster than the sweeps come is looked at as often as its surplus asks for, and a backlog after a
   * pause. A look that finds less, or nothing, makes the wait a quarter longer at most: runs do not end evenly, and a single
   * look may come before the next ones end.
   */
  #planEarly(now: number): void {
    const { recovery, sweepEveryMs } = this.deps;
    const surplus = recovery.takeSurplus();
    for (const cron of this.#looked) {
      const early = this.#early.get(cron);
      const asked = (now - (early?.lookedAt ?? now - sweepEveryMs)) / (surplus.get(cron) ?? 0);
      const longest = early === undefined ? Infinity : (early.dueAt - early.lookedAt) * LONGER;
      const waitMs = Math.max(SLICE_PAUSE_MS, Math.min(asked, longest));
      if (this.#watched.has(cron) && waitMs < sweepEveryMs)
        this.#early.set(cron, { lookedAt: now, dueAt: now + waitMs });
      else this.#early.delete(cron);
    }
    this.#looked.clear();
  }

  #slice(): Promise<void> {
    const now = this.deps.clock.monotonic();
    const due = [...this.#early].flatMap(([cron, { dueAt }]) => (dueAt <= now ? [cron] : []));
    for (const cron of due) this.#restless.add(cron);
    return this.#sweepAll(due);
  }

  async #round(): Promise<void> {
    const { clock, sweepEveryMs, recovery, owner } = this.deps;
    this.#sweeps += 1;
    const isAll = this.#sweeps % ALL_EVERY === 0;
    for (const cron of this.#early.keys()) this.#restless.add(cron);
    const idle = this.#toAskAbout(isAll).filter((cron) => !this.#restless.has(cron));
    const found = idle.length === 0 ? [] : [...(await recovery.withOpenRuns(idle))];
    if (isAll) found.push(...this.#toSeeInFull(idle));
    for (const cron of found) if (this.#watched.has(cron)) this.#restless.add(cron);
    await this.#sweepAll([...this.#restless]);
    if (isAll && !this.#stopped) await owner.compare([...this.#watched]);
    this.#nextAt = clock.monotonic() + sweepEveryMs;
  }

  /** Crons that seem to be idle may not be, though most are: one question about hundreds finds that out. */
  #toAskAbout(isAll: boolean): string[] {
    if (!isAll && this.#unasked === 0) return [];
    const crons = [...this.#watched].slice(isAll ? 0 : Math.max(0, this.#watched.size - this.#unasked));
    const asked = isAll ? crons : crons.slice(0, NEW_AT_ONCE);
    this.#unasked = crons.length - asked.length;
    return asked;
  }

  #toSeeInFull(idle: readonly string[]): string[] {
    const turn = (this.#sweeps / ALL_EVERY) % FULL_LOOK_ONE_IN;
    return idle.filter((_, n) => n % FULL_LOOK_ONE_IN === turn);
  }

  async #sweepAll(crons: readonly string[]): Promise<void> {
    for (let n = 0; n < crons.length; n += AT_ONCE) await this.#sweep(crons.slice(n, n + AT_ONCE));
  }

  async #sweep(crons: readonly string[]): Promise<void> {
    // Leaves out crons that were given up since the round began. Deleted before the call: a cron that is claimed for meanwhile
    // must be swept again.
    for (const cron of crons) if (this.#restless.delete(cron)) this.#inCall.add(cron);
    if (this.#inCall.size === 0) return;
    for (const cron of this.#inCall) this.#looked.add(cron);
    const quiet = await this.deps.recovery.sweep([...this.#inCall]);
    for (const cron of quiet) this.#inCall.delete(cron);
    if (!this.#stopped) for (const cron of this.#inCall) this.#restless.add(cron);
    this.#inCall.clear();
  }
}
