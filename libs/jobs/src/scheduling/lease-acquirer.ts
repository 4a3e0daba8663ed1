import { FenceExhaustedError, type Clock, type Lease, type LeaseLostError } from '@fencepost/lease';
import type { CancelTimer, LeaseKeeper } from '@fencepost/lease/internal';
import type { OccurrenceLog } from '@fencepost/ledger';
import type { Telemetry } from '../telemetry/telemetry.js';
import { DueIndex } from './due-index.js';
import { AcquireBackoff } from './acquire-backoff.js';
import { reportProgramError, reportStoreFailure } from '../telemetry/report-failure.js';
import { isProgramError } from '../telemetry/store-error.js';

export interface LeaseAcquirerDeps {
  readonly ledger: OccurrenceLog;
  readonly keeper: LeaseKeeper;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  readonly ttlMs: number;
  readonly isHeld: (cron: string) => boolean;
  /** Called with what was granted together. */
  readonly onGranted: (leases: readonly Lease[]) => void;
  /** Called with crons that this pod can't take on, so that others hear of them. */
  readonly onGivenUp?: (crons: readonly string[]) => void;
  /** Called with what was lost together; resolves when nothing is claimed under these leases any more. */
  readonly onLost: (leases: readonly Lease[]) => Promise<void>;
}

/** A thousand leases are about a millisecond of the store's time. */
const MAX_BATCH = 1_000;

/** Releases that are announced one by one are asked for together. */
const DEBOUNCE_MS = 5;

/** What runs out at about the same time is asked for at the same time. */
const GRID_MS = 20;

/** However short a holder claims to stay: an answer of 0 must not be met with a spin. */
const MIN_WAIT_MS = 50;

/** Until a person has mended it. */
const HOPELESS_MS = 60_000;

/** When leases become free more than one pod may try; a few milliseconds apart, so that most see that they are too late. */
const SPREAD_MS = 10;

/**
 * A pod's continuing effort to hold the leases of its share: one for all its crons.
 *
 * It asks when something is new or was announced, or when a holder should have run out. Between that, nothing is asked,
 * however many crons are held.
 */
export class LeaseAcquirer {
  #wanted: ReadonlySet<string> = new Set();
  /** When each wanted cron that is not held is asked for next. Monotonic. */
  readonly #next = new DueIndex();
  /** What is being asked for, and whether its release was announced meanwhile. */
  readonly #asking = new Map<string, boolean>();
  readonly #backoff: AcquireBackoff;
  readonly #working = new Set<Promise<void>>();
  #lost: [Lease, LeaseLostError][] = [];
  #failures = 0;
  #cancelTimer: CancelTimer = () => {};
  #halted = false;

  constructor(private readonly deps: LeaseAcquirerDeps) {
    this.#backoff = new AcquireBackoff(deps);
  }

  /**
   * From now on these are to be held, and no others are asked for.
   * @returns whether an answer is still on its way about a cron that is no longer wanted
   */
  want(crons: ReadonlySet<string>): boolean {
    for (const cron of this.#wanted) if (!crons.has(cron)) this.#next.remove(cron);
    this.#wanted = crons;
    for (const cron of crons) if (this.#isMissing(cron) && this.#next.dueAt(cron) === null) this.#askIn(cron, 0);
    this.#arm();
    return [...this.#asking.keys()].some((cron) => !crons.has(cron));
  }

  wants(cron: string): boolean {
    return this.#wanted.has(cron);
  }

  /** Asks for these once, whether or not they are wanted: somebody has to act for them. */
  take(crons: readonly string[]): void {
    const isFree = (cron: string) => !this.#asking.has(cron) && !this.deps.isHeld(cron);
    const free = crons.filter((cron) => isFree(cron) && this.#backoff.leftMs(cron) <= 0);
    for (const cron of free) this.#next.remove(cron);
    this.#ask(free);
  }

  /** Somebody announced that the lease is free. */
  wake(cron: string): void {
    if (this.#asking.has(cron)) this.#asking.set(cron, true);
    else if (this.#next.dueAt(cron) !== null && this.#backoff.leftMs(cron) <= 0) {
      this.#askIn(cron, DEBOUNCE_MS);
      this.#arm();
    }
  }

  /** Ends these terms in one batch, when nothing is done under them any more. */
  async release(leases: readonly Lease[]): Promise<void> {
    const { keeper, telemetry } = this.deps;
    for (const { resource, fence, holder } of leases)
      telemetry.emit('lease.released', { cron: resource, fence, holder });
    await this.#giveBack(leases, () => keeper.release(leases));
    for (const { resource } of leases) this.#again(resource);
  }

  /** Ends all terms of the pod in one batch; nothing is asked for any more. */
  async releaseAll(leases: readonly Lease[]): Promise<void> {
    const { keeper, telemetry } = this.deps;
    for (const { resource, fence, holder } of leases)
      telemetry.emit('lease.released', { cron: resource, fence, holder });
    await this.#giveBack(leases, () => keeper.releaseAll());
  }

  /**
   * Gives a term up that served no purpose, and waits before the next: the reason may still be there.
   * @param minWaitMs beside what grows with every such term in a row
   */
  async abandon(lease: Lease, minWaitMs: number): Promise<void> {
    this.#backoff.note(lease.resource, minWaitMs);
    await this.release([lease]);
  }

  /** Asks for nothing from now on. The terms are the caller's to release. */
  halt(): void {
    this.#halted = true;
    this.#cancelTimer();
  }

  /** Resolves when nothing of this acquirer runs any more. */
  async stop(): Promise<void> {
    this.halt();
    await Promise.all(this.#working);
  }

  #isMissing(cron: string): boolean {
    return this.#wanted.has(cron) && !this.deps.isHeld(cron) && !this.#asking.has(cron);
  }

  #again(cron: string): void {
    if (!this.#isMissing(cron)) return;
    this.#askIn(cron, Math.max(this.#backoff.leftMs(cron), DEBOUNCE_MS));
    this.#arm();
  }

  #askIn(cron: string, delayMs: number): void {
    const at = this.deps.clock.monotonic() + delayMs;
    this.#next.set(cron, delayMs <= DEBOUNCE_MS ? at : Math.ceil(at / GRID_MS) * GRID_MS);
  }

  #arm(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
    const at = this.#halted ? null : this.#next.earliest();
    if (at === null) return;
    this.#cancelTimer = this.deps.clock.after(at - this.deps.clock.monotonic(), () => {
      this.#ask(this.#next.takeDue(this.deps.clock.monotonic() + DEBOUNCE_MS));
      this.#arm();
    });
  }

  #ask(crons: readonly string[]): void {
    if (this.#halted) return;
    for (const cron of crons) this.#asking.set(cron, false);
    if (crons.length > 0) this.#track(this.#askAll(crons));
  }

  async #askAll(crons: readonly string[]): Promise<void> {
    for (let from = 0; from < crons.length; from += MAX_BATCH) {
      const batch = crons.slice(from, from + MAX_BATCH);
      await this.#askBatch(batch).catch((error: unknown) => this.#broke(batch, error));
    }
  }

  async #askBatch(crons: readonly string[]): Promise<void> {
    const answers = await this.#acquire(crons);
    if (answers === null) return this.#arm();
    this.#failures = 0;
    await this.#grant(answers.flatMap((answer) => (answer.acquired ? [answer.lease] : [])));
    crons.forEach((cron, n) => this.#answered(cron, answers[n]?.acquired === false ? answers[n].remainingMs : 0));
    this.#arm();
  }

  /** `null` when nobody answered; when these are asked for next is settled then. */
  async #acquire(crons: readonly string[]): Promise<Awaited<ReturnType<LeaseKeeper['tryAcquireMany']>> | null> {
    const { ledger, keeper, ttlMs } = this.deps;
    const records = await this.#call(crons, () => ledger.readCrons(crons));
    if (records === null) return null;
    if (this.#halted) return [];
    const wanted = crons.map((resource, n) => ({ resource, floor: records[n]?.fence }));
    const onLost = (lease: Lease, error: LeaseLostError) => this.#lose(lease, error);
    return this.#call(crons, () => keeper.tryAcquireMany(wanted, { ttlMs, onLost }));
  }

  /** `null` when the store failed. A bug goes on to the caller: asking again would only repeat it. */
  async #call<T>(crons: readonly string[], call: () => Promise<T>): Promise<T | null> {
    try {
      return await call();
    } catch (error) {
      if (isProgramError(error)) throw error;
      reportStoreFailure(this.deps.telemetry, { operation: 'lease.acquire', ...aboutAll(crons) }, error);
      // That is about one of them, and will stay so: the others must not wait for it.
      const isOfOne = error instanceof FenceExhaustedError;
      if (isOfOne) this.#backoff.note(error.resource, HOPELESS_MS);
      this.#failures += isOfOne ? 0 : 1;
      for (const cron of crons) this.#answered(cron, isOfOne ? 0 : this.#backoff.backoff(this.#failures));
      return null;
    }
  }

  /** A bug is still there a moment later, and another pod may do better. */
  #broke(crons: readonly string[], error: unknown): void {
    reportProgramError(this.deps.telemetry, { operation: 'lease.acquire', ...aboutAll(crons) }, error);
    for (const cron of crons) this.#backoff.note(cron, HOPELESS_MS);
    for (const cron of crons) this.#answered(cron, 0);
    this.#arm();
  }

  async #grant(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const { telemetry, onGranted } = this.deps;
    for (const { resource, fence, holder, ttlMs } of leases) {
      telemetry.emit('lease.acquired', { cron: resource, fence, holder, ttlMs });
    }
    // A term that arrived after the stop is only given back.
    if (this.#halted) return this.#track(this.release(leases));
    try {
      onGranted(leases);
    } catch (error) {
      await this.#giveUp(leases, error);
    }
  }

  /**
   * Nobody acts under these, so they must not be renewed: another pod may do better. This one waits before it tries again,
   * because a bug is still there a moment later.
   */
  async #giveUp(leases: readonly Lease[], error: unknown): Promise<void> {
    const { telemetry, onLost, onGivenUp } = this.deps;
    const crons = leases.map(({ resource }) => resource);
    reportProgramError(telemetry, { operation: 'lease.apply', ...aboutAll(crons) }, error);
    for (const cron of crons) this.#backoff.note(cron, HOPELESS_MS);
    try {
      await onLost(leases);
    } catch (again) {
      reportProgramError(telemetry, { operation: 'lease.abandon' }, again);
    }
    await this.release(leases);
    onGivenUp?.(crons);
  }

  #answered(cron: string, remainingMs: number): void {
    const wasReleased = this.#asking.get(cron);
    this.#asking.delete(cron);
    if (!this.#isMissing(cron)) return;
    const wait = Math.max(remainingMs, MIN_WAIT_MS, this.#backoff.leftMs(cron)) + this.deps.random() * SPREAD_MS;
    this.#askIn(cron, wasReleased && this.#backoff.leftMs(cron) <= 0 ? DEBOUNCE_MS : wait);
  }

  /** All leases of a pod may be lost in one moment: collected, so that they are given back in one batch. */
  #lose(lease: Lease, error: LeaseLostError): void {
    if (this.#lost.push([lease, error]) === 1) queueMicrotask(() => this.#track(this.#followLoss()));
  }

  async #followLoss(): Promise<void> {
    const lost = this.#lost;
    this.#lost = [];
    const { telemetry, onLost } = this.deps;
    for (const [{ resource, fence, holder }, { message }] of lost) {
      telemetry.emit('lease.lost', { cron: resource, fence, holder, cause: message });
      this.#backoff.note(resource, 0);
    }
    const leases = lost.map(([lease]) => lease);
    await onLost(leases);
    // What is left of the terms is of no use to anybody.
    await this.#giveBack(leases, () => this.deps.keeper.release(leases));
    for (const { resource } of leases) this.#again(resource);
  }

  async #giveBack(leases: readonly Lease[], release: () => Promise<unknown>): Promise<void> {
    try {
      await release();
    } catch (error) {
      const about = aboutAll(leases.map(({ resource }) => resource));
      reportStoreFailure(this.deps.telemetry, { operation: 'lease.release', ...about }, error);
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }
}

function aboutAll(crons: readonly string[]): { readonly cron: string } | { readonly count: number } {
  const [cron] = crons;
  return crons.length === 1 && cron !== undefined ? { cron } : { count: crons.length };
}
