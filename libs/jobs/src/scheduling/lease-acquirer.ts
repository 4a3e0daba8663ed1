import { FenceExhaustedError, type Lease, type LeaseLostError } from '@fencepost/lease';
import type { LeaseKeeper } from '@fencepost/lease/internal';
import type { OccurrenceLog } from '@fencepost/ledger';
import { isManual } from '@fencepost/schedule';
import { AcquireBackoff, type AcquireBackoffDeps } from './acquire-backoff.js';
import { AcquireQueue, DEBOUNCE_MS } from './acquire-queue.js';
import type { CatalogCache } from './catalog-cache.js';
import type { DuePublisher } from './due-publisher.js';
import type { Engine } from './engine.js';
import { holdCron } from './held-cron.js';
import { aboutCrons, type LeaseReleases } from './lease-releases.js';
import type { OutboxRelay } from './outbox-relay.js';
import { reportProgramError, reportStoreFailure, isProgramError } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';

export interface LeaseAcquirerDeps extends AcquireBackoffDeps {
  readonly keeper: LeaseKeeper;
  readonly releases: LeaseReleases;
  readonly telemetry: Telemetry;
  readonly ledger: OccurrenceLog;
  /** Fires the crons whose leases are held. */
  readonly engine: Pick<Engine, 'held' | 'heldUnder' | 'hold' | 'letGo'>;
  readonly catalogCache: Pick<CatalogCache, 'get'>;
  readonly duePublisher: Pick<DuePublisher, 'publish'>;
  /** `null`: the ledger has no outbox. */
  readonly relay: Pick<OutboxRelay, 'look'> | null;
}

/** A holder that reports no time left must not cause a busy loop. */
const MIN_WAIT_MS = 50;

/** For errors that only an operator or a new release can fix. */
const HOPELESS_MS = 60_000;

/** Pods that wait for the same lease try a few milliseconds apart, so that most of them find it taken. */
const SPREAD_MS = 10;

/**
 * Acquires the leases of the assignment, for all crons of a pod.
 *
 * It calls the store for a new cron, after a release was announced, and when the holder's lease should have expired. While
 * leases are held it makes no calls, however many there are.
 */
export class LeaseAcquirer {
  #wanted: ReadonlySet<string> = new Set();
  /** Wanted crons that are not held. */
  readonly #queue: AcquireQueue;
  /** Crons of the batches in flight, and whether the release of the lease was announced meanwhile. */
  readonly #acquiring = new Map<string, boolean>();
  readonly #backoff: AcquireBackoff;
  readonly #working = new Set<Promise<void>>();
  #lost: [Lease, LeaseLostError][] = [];
  #failures = 0;
  #storeDownSince: number | null = null;
  #halted = false;

  constructor(private readonly deps: LeaseAcquirerDeps) {
    this.#backoff = new AcquireBackoff(deps);
    this.#queue = new AcquireQueue(deps.clock, this.#acquire);
  }

  /** Overdue crons: acquired before others that are wanted. */
  set first(crons: ReadonlySet<string>) {
    this.#queue.first = crons;
  }

  /**
   * Replaces the assignment: these leases are acquired from now on, and no others.
   * @returns whether a lease that is no longer wanted is still being acquired
   */
  want(crons: ReadonlySet<string>): boolean {
    const gone = [...this.#wanted].filter((cron) => !crons.has(cron));
    this.#wanted = crons;
    this.wantChanged(crons, gone);
    return [...this.#acquiring.keys()].some((cron) => !crons.has(cron));
  }

  /** The assignment has grown by some crons and lost others; the caller hands those over. */
  wantChanged(added: Iterable<string>, gone: readonly string[]): void {
    for (const cron of gone) this.#queue.remove(cron);
    for (const cron of added) if (this.#isMissing(cron) && !this.#queue.has(cron)) this.#queue.add(cron, 0);
  }

  get wanted(): ReadonlySet<string> {
    return this.#wanted;
  }

  /** Since when every attempt to acquire a lease has failed; `null`: the last one was answered. Monotonic. */
  get storeDownSince(): number | null {
    return this.#storeDownSince;
  }

  wants(cron: string): boolean {
    return this.#wanted.has(cron);
  }

  /** Whether this pod neither holds nor acquires it. */
  isFree(cron: string): boolean {
    return !this.#acquiring.has(cron) && this.deps.engine.held(cron) === undefined;
  }

  /** Tries once for these, assigned to this pod or not: their instants are overdue. */
  take(crons: readonly string[]): void {
    this.#queue.acquireNow(crons.filter((cron) => this.isFree(cron) && this.#backoff.leftMs(cron) <= 0));
  }

  /** The release of this lease was announced. */
  wake(cron: string): void {
    if (this.#acquiring.has(cron)) this.#acquiring.set(cron, true);
    else if (this.#queue.has(cron) && this.#backoff.leftMs(cron) <= 0) this.#queue.add(cron, DEBOUNCE_MS);
  }

  /** The end of a session was announced: any lease may be free. */
  wakeAll(): void {
    for (const cron of this.#wanted) if (this.deps.engine.held(cron) === undefined) this.wake(cron);
  }

  /** Gives these crons up, if they are held, after the claims under way: the next holder finds nothing half done. */
  handOver(crons: readonly string[]): void {
    const held = crons.flatMap((cron) => this.deps.engine.held(cron) ?? []);
    const release = () => (this.#halted ? undefined : this.release(held.map(({ lease }) => lease)));
    if (held.length > 0) this.#track(this.deps.engine.letGo(held).then(release));
  }

  /** Ends these terms in one batch; the caller has stopped acting under them. */
  async release(leases: readonly Lease[]): Promise<void> {
    await this.deps.releases.release(leases);
    for (const { resource } of leases) this.#again(resource);
  }

  /**
   * Gives up a term that served no purpose, and backs off: the reason may persist.
   * @param minWaitMs lower bound of a backoff that grows with each such term in a row
   */
  async abandon(lease: Lease, minWaitMs: number): Promise<void> {
    this.#backoff.note(lease.resource, minWaitMs);
    await this.release([lease]);
  }

  /** Acquires nothing from now on. The caller releases the terms. */
  halt(): void {
    this.#halted = true;
    this.#queue.halt();
  }

  /** Resolves when nothing of this acquirer runs any more. */
  async stop(): Promise<void> {
    this.halt();
    await Promise.all(this.#working);
  }

  #isMissing(cron: string): boolean {
    return this.#wanted.has(cron) && this.isFree(cron);
  }

  #again(cron: string): void {
    if (!this.#isMissing(cron)) return;
    this.#queue.add(cron, Math.max(this.#backoff.leftMs(cron), DEBOUNCE_MS));
  }

  readonly #acquire = (crons: readonly string[]): Promise<void> => {
    for (const cron of crons) this.#acquiring.set(cron, false);
    const acquiring = this.#acquireBatch(crons).catch((error: unknown) => this.#broke(crons, error));
    this.#track(acquiring);
    return acquiring;
  };

  async #acquireBatch(crons: readonly string[]): Promise<void> {
    const { ledger, keeper, clock, ttlMs } = this.deps;
    let asked = false;
    let answers: Awaited<ReturnType<LeaseKeeper['tryAcquireMany']>> = [];
    try {
      const records = await ledger.readCrons(crons);
      const wanted = crons.map((resource, n) => ({ resource, floor: records[n]?.fence }));
      asked = !this.#halted;
      if (asked) answers = await keeper.tryAcquireMany(wanted, { ttlMs, onLost: this.#onLost });
    } catch (error) {
      // A bug would only repeat itself.
      if (isProgramError(error)) throw error;
      if (asked && !(error instanceof FenceExhaustedError)) this.#storeDownSince ??= clock.monotonic();
      return this.#storeFailed(crons, error);
    }
    this.#failures = 0;
    if (asked) this.#storeDownSince = null;
    await this.#grant(answers.flatMap((answer) => (answer.acquired ? [answer.lease] : [])));
    crons.forEach((cron, n) => this.#answered(cron, answers[n]?.acquired === false ? answers[n].remainingMs : 0));
  }

  #storeFailed(crons: readonly string[], error: unknown): void {
    reportStoreFailure(this.deps.telemetry, { operation: 'lease.acquire', ...aboutCrons(crons) }, error);
    // This concerns one cron, permanently: the others must not wait for it.
    const isOfOne = error instanceof FenceExhaustedError;
    if (isOfOne) this.#backoff.note(error.resource, HOPELESS_MS);
    this.#failures += isOfOne ? 0 : 1;
    for (const cron of crons) this.#retry(cron, isOfOne ? 0 : this.#backoff.backoff(this.#failures));
  }

  /** A bug will recur soon, and another pod may succeed. */
  #broke(crons: readonly string[], error: unknown): void {
    reportProgramError(this.deps.telemetry, { operation: 'lease.acquire', ...aboutCrons(crons) }, error);
    for (const cron of crons) this.#backoff.note(cron, HOPELESS_MS);
    for (const cron of crons) this.#retry(cron, 0);
  }

  async #grant(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const { telemetry, engine, catalogCache, relay } = this.deps;
    for (const { resource, fence, holder, ttlMs } of leases) {
      telemetry.emit('lease.acquired', { cron: resource, fence, holder, ttlMs });
    }
    // Granted after the stop: release at once.
    if (this.#halted) return this.#track(this.release(leases));
    try {
      const held = leases.flatMap((lease) => {
        const entered = catalogCache.get(lease.resource);
        return entered ? [holdCron(entered.entry, lease)] : [];
      });
      engine.hold(held);
      for (const { entry } of held) if (isManual(entry.definition.expression)) relay?.look(entry.definition.name);
      if (held.length === leases.length) return;
      // Removed from the catalog while their leases were being acquired.
      this.#track(this.release(leases.filter(({ resource }) => !catalogCache.get(resource))));
    } catch (error) {
      await this.#giveUp(leases, error);
    }
  }

  /** These leases must not be renewed without being acted on: after a bug in this pod, another one may succeed. */
  async #giveUp(leases: readonly Lease[], error: unknown): Promise<void> {
    const { telemetry, clock, engine, duePublisher } = this.deps;
    const crons = leases.map(({ resource }) => resource);
    reportProgramError(telemetry, { operation: 'lease.apply', ...aboutCrons(crons) }, error);
    for (const cron of crons) this.#backoff.note(cron, HOPELESS_MS);
    try {
      await engine.letGo(engine.heldUnder(leases));
    } catch (again) {
      reportProgramError(telemetry, { operation: 'lease.abandon' }, again);
    }
    await this.release(leases);
    duePublisher.publish(crons.map((cron) => [cron, clock.now()]));
  }

  #answered(cron: string, remainingMs: number): void {
    // A store that fails has refused nothing: publishing the cron would hide since when it is overdue.
    if (remainingMs > 0 && this.#wanted.has(cron) && this.#backoff.isRefusedForLong(cron))
      this.deps.duePublisher.publish([[cron, this.deps.clock.now()]]);
    this.#retry(cron, remainingMs);
  }

  #retry(cron: string, waitMs: number): void {
    const wasReleased = this.#acquiring.get(cron);
    this.#acquiring.delete(cron);
    if (!this.#isMissing(cron)) return this.#backoff.settle(cron);
    const wait = Math.max(waitMs, MIN_WAIT_MS, this.#backoff.leftMs(cron)) + this.deps.random() * SPREAD_MS;
    this.#queue.add(cron, wasReleased && this.#backoff.leftMs(cron) <= 0 ? DEBOUNCE_MS : wait);
  }

  /** A pod may lose all its leases in one moment: collected here, and released in one batch. */
  readonly #onLost = (lease: Lease, error: LeaseLostError): void => {
    if (this.#lost.push([lease, error]) === 1) queueMicrotask(() => this.#track(this.#followLoss()));
  };

  async #followLoss(): Promise<void> {
    const lost = this.#lost;
    this.#lost = [];
    const leases = lost.map(([lease]) => lease);
    for (const { resource } of leases) this.#backoff.note(resource, 0);
    this.deps.releases.reportLoss(lost);
    await this.deps.engine.letGo(this.deps.engine.heldUnder(leases));
    await this.deps.releases.releaseLost(leases);
    for (const { resource } of leases) this.#again(resource);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }
}
