import type { Clock, Lease } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { OccurrenceLog } from '@fencepost/ledger';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { DuePublisher } from './due-publisher.js';
import { BlockedCrons } from './blocked-crons.js';
import type { DispatchResult, Dispatcher } from './dispatcher.js';
import type { Behind } from './behind-watch.js';
import type { DueSlices, Slice } from './due-slices.js';
import { DueTimes } from './due-times.js';
import type { HeldCron, Obstacle } from './held-cron.js';
import { fallenBehind, loadState } from './load-state.js';
import type { PodTiming } from '../membership/pod-timing.js';
import type { Recovery } from './recovery.js';
import { Sweeper, type SweepOwner } from './sweeper.js';

export interface EngineDeps {
  readonly ledger: OccurrenceLog;
  readonly dispatcher: Dispatcher;
  readonly recovery: Recovery;
  readonly duePublisher: DuePublisher;
  readonly clock: Clock;
  /** Sets the one timer; default `clock`. */
  readonly instants?: Pick<Clock, 'after'>;
  readonly telemetry: Telemetry;
  /** In [0, 1). */
  readonly random: () => number;
  /** Between two sweeps of the held crons that have open runs. */
  readonly sweepEveryMs: number;
  readonly timing: Pick<PodTiming, 'maxWaitMs' | 'retryMs' | 'maxRetryMs'>;
  readonly owner: EngineOwner;
}

export interface EngineOwner {
  /** The engine has stopped firing this cron by itself. */
  cronDropped(held: HeldCron, why: DropReason): void;
  /** The engine begins a slice of crons. */
  sliceBegins(): void;
  /** What a try to claim has met; `null`: nothing was in the way. */
  claimMet(held: HeldCron, obstacle: Obstacle | null): void;
  /** The cursor of a cron that was read. */
  cursorRead(cursor: number): void;
}

/** `stale`: a claim was refused. `outdated`: refused, the ledger has a newer definition. `failing`: store or queue kept failing. */
export type DropReason = 'stale' | 'outdated' | 'failing';

/** A cron is given up after this many failures in a row: another pod may reach a store that this one can't. */
const MAX_FAILURES = 10;

const FAILED: DispatchResult = { failed: true };

/** Fires the crons that this pod holds, with one timer, armed for the earliest. */
export class Engine implements SweepOwner {
  readonly #held = new Map<string, HeldCron>();
  readonly #times: DueTimes;
  /** Crons with a call in progress, and what they need after it. */
  readonly #busy = new Map<HeldCron, 'nothing' | 'look' | 'load'>();
  readonly #working = new Set<Promise<void>>();
  readonly #sweeper: Sweeper;
  readonly #blocked: BlockedCrons;
  #cancelTimer: CancelTimer = () => {};
  #stopped = false;
  #comparedAt = -Infinity;

  constructor(private readonly deps: EngineDeps) {
    this.#times = new DueTimes(deps);
    this.#blocked = new BlockedCrons(deps);
    this.#sweeper = new Sweeper({ ...deps, owner: this });
  }

  start(): void {
    this.#sweeper.start();
  }

  get size(): number {
    return this.#held.size;
  }

  /** When the next cron is due, by the clock of this pod; `Infinity` without one. */
  get nextAt(): number {
    return this.#times.earliest;
  }

  heldNames(): string[] {
    return [...this.#held.keys()];
  }

  /** The state of a held cron; `undefined` if this pod doesn't hold it. */
  held(cron: string): HeldCron | undefined {
    return this.#held.get(cron);
  }

  /** How late the oldest cron is that is due and not dispatched, and how many such crons there are. */
  behind(): Behind {
    const now = this.deps.clock.now();
    const lateMs = this.#times.due.lateness(now);
    return { lateMs, crons: lateMs === 0 ? 0 : this.#times.due.backlog(now) };
  }

  /** The crons that this pod still holds under exactly these leases. */
  heldUnder(leases: readonly Lease[]): HeldCron[] {
    return leases.flatMap((lease) => {
      const held = this.#held.get(lease.resource);
      return held?.lease === lease ? [held] : [];
    });
  }

  /** Fires these crons from now on: first recovers runs of their previous holders and missed instants. */
  hold(crons: readonly HeldCron[]): void {
    // A lease granted after the stop must not start the engine again.
    if (this.#stopped) return;
    const now = this.deps.clock.now();
    // The longest overdue come first, and of one instant those that were set last.
    for (const held of crons.toReversed()) {
      const { name } = held.entry.definition;
      this.#held.set(name, held);
      this.#sweeper.add(name);
      this.#times.lookAt(name, now);
    }
    this.#arm();
  }

  /** The catalog has a new entry for a cron. Its lease and cursor do not change. */
  update(entry: CatalogEntry): void {
    const held = this.#held.get(entry.definition.name);
    if (!held) return;
    held.entry = entry;
    if (!this.#busy.has(held)) this.#lookAt(held, this.deps.clock.now());
    else if (this.#busy.get(held) === 'nothing') this.#busy.set(held, 'look');
    this.#arm();
  }

  /** Another pod asks for a recheck of the cron: it may have runs that this pod does not know. */
  recheck(cron: string): void {
    const held = this.#held.get(cron);
    if (!held) return;
    held.known = false;
    this.#sweeper.watch(cron);
    held.published = true;
    // The read in progress may be older than the request.
    if (this.#busy.has(held)) this.#busy.set(held, 'load');
    else this.#lookAt(held, this.deps.clock.now());
    this.#arm();
  }

  /** Publishes the due time of the cron again, unless it is being computed. */
  publishDueAgain(cron: string): void {
    const held = this.#held.get(cron);
    if (!held || this.#busy.has(held)) return;
    // By a former holder, or what this one published got lost.
    held.published = true;
    const dueAt = this.#times.due.index.dueAt(cron);
    if (dueAt === null || dueAt > this.deps.clock.now()) this.#times.publish([held]);
  }

  /**
   * Stops claiming for these crons at once.
   * @returns when the calls in progress for them have ended
   */
  async letGo(crons: readonly HeldCron[]): Promise<void> {
    for (const held of crons) this.#forget(held);
    this.#arm();
    await Promise.all(this.#working);
  }

  /** Stops claiming at once; resolves when the claims in progress have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    await Promise.all([this.#sweeper.stop(), this.#blocked.stop(), this.letGo([...this.#held.values()])]);
  }

  /** If the ledger lost acknowledged writes, loads these crons again: else their instants would stay missing until the next one. */
  async compare(crons: readonly string[]): Promise<void> {
    const since = this.#comparedAt;
    this.#comparedAt = this.deps.clock.now();
    const still = crons.flatMap((cron) => this.#held.get(cron) ?? []).filter((held) => !this.#busy.has(held));
    for (const { entry } of await fallenBehind(still, since, this.deps)) this.recheck(entry.definition.name);
  }

  #forget(held: HeldCron): void {
    held.over = true;
    const { name } = held.entry.definition;
    if (this.#held.get(name) !== held) return;
    this.#held.delete(name);
    this.#times.remove(name);
    this.#sweeper.leave(name);
    this.#blocked.leave(name);
  }

  #drop(held: HeldCron, why: DropReason): void {
    if (this.#held.get(held.entry.definition.name) !== held) return;
    this.#forget(held);
    this.#arm();
    this.deps.owner.cronDropped(held, why);
  }

  #lookAt(held: HeldCron, at: number | null): void {
    const { name } = held.entry.definition;
    if (this.#held.get(name) === held) this.#times.set(name, at);
  }

  #arm(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
    const at = this.#times.nextSliceAt;
    if (this.#stopped || at === Infinity) return;
    const { clock, timing, instants = clock } = this.deps;
    const wait = Math.min(at - clock.now(), timing.maxWaitMs);
    this.#cancelTimer = instants.after(wait, () => this.#fire());
  }

  /** Takes one slice at most of each kind: the next one gets a tick of the event loop of its own. */
  #fire(): void {
    for (const slices of [this.#times.due, this.#times.looks]) {
      const slice = slices.take(this.deps.clock.now());
      if (slice) this.#track(this.#dispatchSlice(slices, slice));
    }
    this.#arm();
  }

  async #dispatchSlice(slices: DueSlices, slice: Slice): Promise<void> {
    this.deps.owner.sliceBegins();
    try {
      await this.#dispatch(slice.crons.flatMap((name) => this.#held.get(name) ?? []));
    } finally {
      slices.end(slice);
      this.#arm();
    }
  }

  async #dispatch(due: readonly HeldCron[]): Promise<void> {
    for (const held of due) this.#busy.set(held, 'nothing');
    const unknown = due.filter(({ known }) => !known);
    if (unknown.length > 0) await loadState(unknown, this.deps);
    for (const { cursor } of unknown) if (cursor !== null) this.deps.owner.cursorRead(cursor);
    for (const held of unknown) if (!held.known) this.#applyResult(held, FAILED);
    const known = due.filter((held) => held.known && !held.over);
    const dispatched = known.length === 0 ? [] : await this.deps.dispatcher.dispatch(known);
    known.forEach((held, index) => this.#applyResult(held, dispatched[index] ?? FAILED));
    this.#settle(due);
    const looked = known.filter((held, index) => !held.over && 'lookAt' in (dispatched[index] ?? FAILED));
    for (const { cursor, entry } of looked) if (cursor !== null) this.#sweeper.watch(entry.definition.name);
    known.forEach(({ over, entry }, index) => {
      const outcome = dispatched[index] ?? FAILED;
      if (!over && 'lookAt' in outcome && outcome.obstacle === 'blocked') this.#blocked.note(entry.definition.name);
    });
    this.#times.publish(looked);
  }

  /** Handles what was requested during the calls. */
  #settle(due: readonly HeldCron[]): void {
    for (const held of due) {
      const need = this.#busy.get(held);
      this.#busy.delete(held);
      if (need === 'nothing') continue;
      if (need === 'load') held.known = false;
      this.#lookAt(held, this.deps.clock.now());
    }
  }

  #applyResult(held: HeldCron, dispatched: DispatchResult): void {
    if ('stale' in dispatched) return this.#drop(held, dispatched.outdated === undefined ? 'stale' : 'outdated');
    if ('lookAt' in dispatched) {
      held.failures = 0;
      this.deps.owner.claimMet(held, dispatched.obstacle ?? null);
      return this.#lookAt(held, dispatched.lookAt);
    }
    // The failed call may have taken effect, so the state of the cron is loaded again.
    held.known = false;
    held.failures += 1;
    this.deps.owner.claimMet(held, 'fails');
    if (held.failures === MAX_FAILURES) return this.#drop(held, 'failing');
    const { retryMs, maxRetryMs } = this.deps.timing;
    const wait = Math.min(retryMs * 2 ** (held.failures - 1), maxRetryMs);
    this.#lookAt(held, this.deps.clock.now() + wait);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }
}
