import type { Clock, Fence, LeaseStore } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import type { Telemetry } from '../telemetry/telemetry.js';
import { inGroups } from './in-groups.js';
import type { LeaseAcquirer } from './lease-acquirer.js';
import type { PodTiming } from '../membership/pod-timing.js';
import type { HeartbeatReply, Membership, OverdueCron } from '../membership/membership.js';
import { candidates, firstOf } from './rendezvous.js';
import type { CatalogCache } from './catalog-cache.js';
import { reportProgramError, reportStoreFailure } from '../telemetry/report-failure.js';

export interface TakeoverDeps {
  readonly pod: string;
  readonly leases: LeaseStore;
  readonly membership: Pick<Membership, 'leave'>;
  readonly catalogCache: CatalogCache;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  readonly ttlMs: number;
  readonly timing: Pick<PodTiming, 'suspectAfterMs' | 'abandonedAfterMs'>;
  readonly acquirer: Pick<LeaseAcquirer, 'take' | 'isFree'>;
}

/** Spreads pods that learn of the same overdue cron at the same time. */
const JITTER_MS = 50;

interface Looked {
  readonly overdue: readonly OverdueCron[];
  readonly sinceHeard: ReadonlyMap<string, number>;
  readonly now: number;
}

/** An overdue cron, and the term that a suspected pod still has of it. */
interface Stuck {
  readonly late: OverdueCron;
  readonly holding: Holding;
}

/**
 * Takes over crons from suspected holders before their leases expire: one call ends the session of such a pod and with it all
 * of its terms, overdue or not. Its end is announced, and each pod acquires its share then.
 *
 * Only if an occurrence is overdue **and** the holder is suspected: a holder that is merely overloaded still sends heartbeats.
 * Both are hints and may be wrong. A live holder that is preempted by mistake is refused its next renewal, and its claims are
 * stale: the fence decides.
 */
export class Takeover {
  /** The last try for each cron; one per TTL is enough. Monotonic. */
  readonly #tried = new Map<string, number>();
  #cancel: CancelTimer = () => {};
  #working: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: TakeoverDeps) {}

  /** @param overdue the overdue crons that this pod does not hold */
  applyHeartbeat({ members, now }: HeartbeatReply, overdue: readonly OverdueCron[]): void {
    this.#cancel();
    this.#forget();
    const unsuspected = candidates(
      members.filter(({ sinceHeardMs }) => sinceHeardMs <= this.deps.timing.suspectAfterMs).map(({ pod }) => pod),
    );
    const mine = overdue.filter((late) => {
      if (this.#stopped || this.#tried.has(late.cron)) return false;
      const entered = this.deps.catalogCache.get(late.cron);
      if (!entered) return false;
      return firstOf(entered.hash, unsuspected) === this.deps.pod || this.#isAbandoned(late, now);
    });
    if (mine.length === 0) return;
    const sinceHeard = new Map(members.map(({ pod, sinceHeardMs }) => [pod, sinceHeardMs]));
    this.#cancel = this.deps.clock.after(this.deps.random() * JITTER_MS, () => {
      this.#working = this.#working
        .then(() => this.#look({ overdue: mine, sinceHeard, now }))
        .catch((error: unknown) => reportProgramError(this.deps.telemetry, { operation: 'lease.take-over' }, error));
    });
  }

  /** Resolves when no call is in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#working;
  }

  async #look({ overdue, sinceHeard, now }: Looked): Promise<void> {
    const { clock, pod, acquirer, timing } = this.deps;
    const holdings = await this.#inspect(overdue);
    if (holdings === null) return;
    const free: string[] = [];
    const stuck = new Map<string, Stuck[]>();
    // Released by this pod, in a store that has lost the release: its session would keep such a term for as long as it lives. The
    // end is announced, and the pod that wants the lease takes it.
    const revived: Stuck[] = [];
    for (const [index, late] of overdue.entries()) {
      const holding = holdings[index] ?? null;
      const sinceHeardMs = (holding && sinceHeard.get(holding.holder)) ?? Infinity;
      const isDead = holding === null || (holding.holder !== pod && sinceHeardMs > timing.suspectAfterMs);
      const isRevived = holding?.holder === pod && acquirer.isFree(late.cron);
      if (isDead || isRevived || this.#isAbandoned(late, now)) this.#tried.set(late.cron, clock.monotonic());
      if (holding !== null && isRevived) revived.push({ late, holding });
      if (!isDead) continue;
      if (holding === null) free.push(late.cron);
      else stuck.set(holding.holder, [...(stuck.get(holding.holder) ?? []), { late, holding }]);
    }
    await this.#preemptEach(revived);
    for (const [holder, terms] of stuck) if (!this.#stopped) free.push(...(await this.#free(holder, terms)));
    if (!this.#stopped) acquirer.take(free);
  }

  /** @returns the crons that are free now */
  async #free(holder: string, terms: readonly Stuck[]): Promise<string[]> {
    const [first] = terms;
    if (first && (await this.#endSession(holder, first.holding.fence, first.late.cron))) {
      for (const { late, holding } of terms) this.#report(late, holding);
      return terms.map(({ late }) => late.cron);
    }
    return this.#preemptEach(terms);
  }

  /** @returns the crons that are free now */
  async #preemptEach(terms: readonly Stuck[]): Promise<string[]> {
    const free: string[] = [];
    await inGroups(terms, async ({ late, holding }) => {
      if (!this.#stopped && (await this.#preempt(late, holding))) free.push(late.cron);
    });
    return free;
  }

  /**
   * `false` for a term with an expiry of its own, or when another pod has ended the session already. The pod is taken out of the
   * membership first, so that its crons are assigned to others at once. One that lives after all is back with its next heartbeat.
   */
  async #endSession(holder: string, fence: Fence, cron: string): Promise<boolean> {
    const { leases, telemetry } = this.deps;
    if (!leases.sessions) return false;
    // Sent first: who hears of the end of the session asks for the members at once.
    const leaving = this.#takeOut(holder);
    try {
      return await leases.sessions.closeOf(cron, fence);
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'lease.evict', cron }, error);
      return false;
    } finally {
      await leaving;
    }
  }

  async #takeOut(holder: string): Promise<void> {
    const { membership, telemetry } = this.deps;
    try {
      await membership.leave(holder);
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'membership.leave' }, error);
    }
  }

  /** `null` when the store failed. */
  async #inspect(overdue: readonly OverdueCron[]): Promise<readonly (Holding | null)[] | null> {
    const { leases, telemetry } = this.deps;
    try {
      return await leases.inspect(overdue.map(({ cron }) => cron));
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'lease.inspect', count: overdue.length }, error);
      return null;
    }
  }

  async #preempt(late: OverdueCron, holding: Holding): Promise<boolean> {
    const { leases, telemetry } = this.deps;
    let preempted = false;
    try {
      preempted = (await leases.evict?.(late.cron, holding.fence)) ?? false;
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'lease.evict', cron: late.cron }, error);
    }
    if (preempted) this.#report(late, holding);
    return preempted;
  }

  #report({ cron, overdueMs }: OverdueCron, { holder, fence }: Holding): void {
    this.deps.telemetry.emit('lease.preempted', { cron, fence, holder, overdueMs });
  }

  #isAbandoned(late: OverdueCron, now: number): boolean {
    return late.overdueMs >= this.deps.timing.abandonedAfterMs && !isRecheckRequest(late, now);
  }

  #forget(): void {
    const before = this.deps.clock.monotonic() - this.deps.ttlMs;
    for (const [cron, at] of this.#tried) if (at <= before) this.#tried.delete(cron);
  }
}

/** A recheck is requested by publishing a time long past, which says nothing about how long a cron has been overdue. */
export function isRecheckRequest({ overdueMs }: OverdueCron, now: number): boolean {
  return overdueMs >= now;
}
