import type { Clock, LeaseStore } from '@fencepost/lease';
import type { LeaseKeeper } from '@fencepost/lease/internal';
import { ALL_RELEASED, type StopWatching } from '@fencepost/lease/store';
import type { Catalog, CatalogEntry } from '@fencepost/ledger/catalog';
import { isTransactional, type OccurrenceLog, type RunHistory } from '@fencepost/ledger';
import type { Telemetry } from '../telemetry/telemetry.js';
import { DuePublisher } from './due-publisher.js';
import { LeaseAcquirer } from './lease-acquirer.js';
import { LeaseReleases } from './lease-releases.js';
import { BehindWatch } from './behind-watch.js';
import { Dispatcher, type DispatcherDeps } from './dispatcher.js';
import { Engine, type DropReason, type EngineDeps, type EngineOwner } from './engine.js';
import type { HeldCron, Obstacle } from './held-cron.js';
import { StandstillWatch, type StandstillWatchDeps } from './standstill-watch.js';
import { OutboxRelay } from './outbox-relay.js';
import { POD_TIMING, type PodTiming } from '../membership/pod-timing.js';
import type { HeartbeatReply, OverdueCron, Membership } from '../membership/membership.js';
import { MembershipHeartbeat, type HeartbeatListener } from './membership-heartbeat.js';
import { Recovery, type RecoveryDeps } from './recovery.js';
import { isRecheckRequest, Takeover } from './takeover.js';
import { CatalogCache, type CatalogListener } from './catalog-cache.js';
import type { RunQueue } from '../queue/run-queue.js';
import { Schedules } from '../schedules/schedules.js';
import { Assignment } from './assignment.js';
import { candidates, firstOf } from './rendezvous.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

/** A pod whose session ends leaves the membership in the same moment: who hears of the one waits this long for the other. */
const LEAVES_WITHIN_MS = 10;

export interface SchedulerPodDeps
  extends
    Pick<DispatcherDeps, 'tracing'>,
    Pick<EngineDeps, 'instants'>,
    Pick<RecoveryDeps, 'notifier'>,
    Pick<StandstillWatchDeps, 'queueLimits'> {
  readonly ledger: OccurrenceLog & Pick<RunHistory, 'forgetAll' | 'readRun'>;
  readonly queue: RunQueue;
  readonly catalog: Catalog;
  readonly membership: Membership;
  readonly leases: LeaseStore;
  /** Where they are, for people; default `of this deployment`. */
  readonly leasePlace?: string;
  readonly keeper: LeaseKeeper;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  /** Of the crons' leases. */
  readonly ttlMs: number;
  readonly sweepEveryMs: number;
  /** A run that a sweep has looked at is looked at again after this long. */
  readonly lookAgainMs: number;
  readonly keepRuns: number;
  /** Default {@link POD_TIMING}. */
  readonly timing?: PodTiming;
  /** The store's clock at the last word on the catalog; one object for all who ask. Made here by default. */
  readonly freshness?: { knownAt: number };
}

/**
 * One scheduler pod: acquires the leases of its assignment and fires the crons that it holds. Once a second a heartbeat
 * tells it which pods are live, whether the catalog has changed, and which crons are overdue.
 *
 * The constructor wires the parts in the order in which they depend on each other. What they report back is handled below:
 * `heartbeatAnswered`, `catalogChanged` and `cronDropped`.
 */
export class SchedulerPod implements HeartbeatListener, CatalogListener, EngineOwner {
  readonly dispatcher: Dispatcher;
  readonly recovery: Recovery;
  readonly catalogCache: CatalogCache;
  readonly engine: Engine;
  readonly acquirer: LeaseAcquirer;
  readonly #duePublisher: DuePublisher;
  readonly #releases: LeaseReleases;
  /** `null`: the ledger is not transactional. */
  readonly #relay: OutboxRelay | null;
  readonly #assignment: Assignment;
  readonly #takeover: Takeover;
  readonly #heartbeat: MembershipHeartbeat;
  readonly #behind: BehindWatch;
  readonly standstills: StandstillWatch;
  readonly #name: string;
  readonly #timing: PodTiming;
  readonly #freshness: { knownAt: number };
  readonly #dropping = new Set<Promise<void>>();
  #watches: StopWatching[] = [];
  /** The members as of the last heartbeat, this pod included. */
  members: HeartbeatReply['members'] = [];
  #stopped = false;

  constructor(private readonly deps: SchedulerPodDeps) {
    const { ledger, clock, telemetry, timing = POD_TIMING, freshness = { knownAt: -Infinity } } = deps;
    const { leasePlace = 'of this deployment' } = deps;
    const schedules = new Schedules({ clock, telemetry });
    const pod = deps.keeper.holder;
    this.#name = pod;
    this.#timing = timing;
    this.#freshness = freshness;
    const dispatcher = new Dispatcher({ ...deps, freshness, schedules });
    const recovery = new Recovery({ ...deps, dispatcher });
    const duePublisher = new DuePublisher(deps);
    const catalogCache = new CatalogCache({ ...deps, freshness, listener: this });
    const engine = new Engine({ ...deps, timing, dispatcher, recovery, duePublisher, owner: this });
    const relay = isTransactional(ledger)
      ? new OutboxRelay({ ...deps, ledger, dispatcher, engine, lookEveryMs: deps.sweepEveryMs })
      : null;
    const releases = new LeaseReleases(deps);
    const acquirer = new LeaseAcquirer({ ...deps, releases, engine, catalogCache, duePublisher, relay });
    this.#assignment = new Assignment({ ...timing, pod, catalogCache, engine, acquirer, telemetry });
    this.#takeover = new Takeover({ ...deps, timing, pod, catalogCache, acquirer });
    const behind = new BehindWatch({ ...deps, engine });
    this.standstills = new StandstillWatch({ ...deps, schedules, catalogCache, engine, acquirer, leasePlace });
    const weight = () => behind.look();
    this.#heartbeat = new MembershipHeartbeat({ ...deps, ...timing, pod, weight, listener: this });
    this.#behind = behind;
    this.#duePublisher = duePublisher;
    this.#releases = releases;
    this.#relay = relay;
    this.dispatcher = dispatcher;
    this.recovery = recovery;
    this.catalogCache = catalogCache;
    this.engine = engine;
    this.acquirer = acquirer;
  }

  /** The store's clock at the last word on the catalog. */
  get knownAt(): number {
    return this.#freshness.knownAt;
  }

  /** How many crons should be this pod's. */
  get assigned(): number {
    return this.#assignment.size;
  }

  /** The weight that this pod announces. */
  get weight(): number {
    return this.#behind.weight;
  }

  /**
   * Resolves after the first heartbeat.
   * @throws when the stores could not be listened to; it may be called again then
   */
  async start(): Promise<void> {
    const { leases, catalog } = this.deps;
    const watched = this.#watches.length;
    if (watched < 1) await this.#watch(leases.watchReleases((cron) => this.#onReleased(cron)));
    if (watched < 2) await this.#watch(catalog.watch(() => void this.catalogCache.refresh()));
    if (watched < 3 && this.#relay) await this.#watch(this.#relay.watch());
    if (this.#stopped) return;
    this.engine.start();
    this.#relay?.start();
    await this.catalogCache.refresh();
    if (!this.#stopped) await this.#heartbeat.start();
    this.standstills.start();
  }

  /** Stops claiming, then releases all leases in one batch and leaves the membership; only then the rest. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.acquirer.halt();
    const held = this.engine.heldNames().flatMap((name) => this.engine.held(name)?.lease ?? []);
    // A heartbeat on its way would bring this pod back after its leave.
    await Promise.all([this.engine.stop(), this.#heartbeat.stop(), this.#takeover.stop(), this.#relay?.stop()]);
    await this.standstills.stop();
    await Promise.all([this.#releases.releaseAll(held), this.#leave()]);
    await Promise.all([
      this.acquirer.stop(),
      this.catalogCache.stop(),
      this.#duePublisher.settled(),
      ...this.#dropping,
    ]);
    await Promise.all(this.#watches.splice(0).map((stop) => stop()));
  }

  async #watch(watching: Promise<StopWatching>): Promise<void> {
    const stop = await watching;
    // Stopped while it started.
    if (this.#stopped) await stop();
    else this.#watches.push(stop);
  }

  async #leave(): Promise<void> {
    try {
      await this.deps.membership.leave(this.#name);
    } catch (error) {
      reportStoreFailure(this.deps.telemetry, { operation: 'membership.leave' }, error);
    }
  }

  #onReleased(cron: string): void {
    if (this.#stopped) return;
    if (cron === ALL_RELEASED) {
      this.acquirer.wakeAll();
      return this.#heartbeat.early(LEAVES_WITHIN_MS);
    }
    if (this.acquirer.wants(cron)) this.acquirer.wake(cron);
    // A release of a lease that this pod has no use for: a pod has joined or leaves.
    else if (this.engine.held(cron) === undefined) this.#heartbeat.early();
  }

  heartbeatAnswered(reply: HeartbeatReply, sentAt: number): void {
    this.members = reply.members;
    this.catalogCache.applyHeartbeat(reply, sentAt);
    this.acquirer.first = new Set(reply.overdue.map(({ cron }) => cron));
    this.#assignment.applyHeartbeat(reply);
    const foreign = reply.overdue.filter((late) => !this.#handleOverdue(late, reply));
    if (foreign.length > 0) this.#takeover.applyHeartbeat(reply, foreign);
    this.standstills.heartbeatAnswered(reply, this.#unclaimed(foreign, reply));
  }

  /** The overdue crons that this pod answers for, as the first of those that live. */
  #unclaimed(foreign: readonly OverdueCron[], { members, now }: HeartbeatReply): string[] {
    if (foreign.length === 0) return [];
    const pods = candidates(members.map(({ pod }) => pod));
    return foreign.flatMap((late) => {
      const entered = this.catalogCache.get(late.cron);
      const isOurs = entered !== undefined && firstOf(entered.hash, pods) === this.#name;
      return isOurs && !isRecheckRequest(late, now) ? [late.cron] : [];
    });
  }

  /** An instant needs the reply to a heartbeat: how fresh the catalog is says of which generation it is. */
  isQuiet(): boolean {
    const { heartbeatMs } = this.#timing;
    return this.engine.nextAt > this.deps.clock.now() + 2 * heartbeatMs;
  }

  /** @returns false if the holder, another pod, may need to be preempted */
  #handleOverdue(late: OverdueCron, reply: HeartbeatReply): boolean {
    const { cron } = late;
    if (this.engine.held(cron) === undefined) {
      if (!this.catalogCache.isCurrent(reply) || this.catalogCache.get(cron)) return false;
      // A cron that is no longer in the catalog would be overdue for ever.
      this.#duePublisher.publish([[cron, null]]);
    } else if (isRecheckRequest(late, reply.now)) this.engine.recheck(cron);
    else this.engine.publishDueAgain(cron);
    return true;
  }

  catalogChanged(changed: readonly CatalogEntry[], gone: readonly string[]): void {
    for (const entry of changed) this.engine.update(entry);
    this.acquirer.handOver(gone);
    this.#assignment.catalogChanged(changed, gone);
  }

  claimMet(held: HeldCron, obstacle: Obstacle | null): void {
    this.standstills.met(held, obstacle);
  }

  cursorRead(cursor: number): void {
    this.standstills.storeClock.record(cursor, this.deps.clock.monotonic());
  }

  sliceBegins(): void {
    this.#heartbeat.alive();
  }

  cronDropped(held: HeldCron, why: DropReason): void {
    const tracked = this.#drop(held, why).finally(() => this.#dropping.delete(tracked));
    this.#dropping.add(tracked);
  }

  async #drop(held: HeldCron, why: DropReason): Promise<void> {
    const { clock } = this.deps;
    const { name } = held.entry.definition;
    // Publishes the cron as overdue: another pod may reach a store that this one can't.
    if (why === 'failing') this.#duePublisher.publish([[name, clock.now() - held.aheadMs]]);
    await this.acquirer.abandon(held.lease, why === 'failing' ? this.#timing.leftToOthersMs : 0);
    if (why === 'outdated' && !this.#stopped) await this.catalogCache.catchUp(held.entry);
  }
}
