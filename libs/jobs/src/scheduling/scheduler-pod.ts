import type { Clock, Lease, LeaseStore } from '@fencepost/lease';
import type { LeaseKeeper } from '@fencepost/lease/internal';
import type { StopWatching } from '@fencepost/lease/store';
import type { Catalog, CatalogEntry } from '@fencepost/ledger/catalog';
import { isTransactional, type OccurrenceLog, type RunHistory } from '@fencepost/ledger';
import { isManual } from '@fencepost/schedule';
import type { Telemetry } from '../telemetry/telemetry.js';
import { DuePublisher } from './due-publisher.js';
import { LeaseAcquirer } from './lease-acquirer.js';
import { Dispatcher, type DispatcherDeps } from './dispatcher.js';
import { Engine, type DropReason, type EngineDeps } from './engine.js';
import { holdCron, type HeldCron } from './held-cron.js';
import { OutboxRelay } from './outbox-relay.js';
import { POD_TIMING, type PodTiming } from '../membership/pod-timing.js';
import type { HeartbeatReply, OverdueCron, Membership } from '../membership/membership.js';
import { MembershipHeartbeat } from './membership-heartbeat.js';
import { Recovery, type RecoveryDeps } from './recovery.js';
import { isRecheckRequest, Takeover } from './takeover.js';
import { CatalogCache } from './catalog-cache.js';
import type { RunQueue } from '../queue/run-queue.js';
import { Schedules } from '../schedules/schedules.js';
import { Assignment } from './assignment.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

export interface SchedulerPodDeps
  extends Pick<DispatcherDeps, 'tracing'>, Pick<EngineDeps, 'instants'>, Pick<RecoveryDeps, 'notifier'> {
  readonly ledger: OccurrenceLog & Pick<RunHistory, 'forget'>;
  readonly queue: RunQueue;
  readonly catalog: Catalog;
  readonly membership: Membership;
  readonly leases: LeaseStore;
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
 * One scheduler pod: hears once a second who is there and what changed, holds the leases of its share of the crons, and
 * fires those it holds. Which parts there are and how they hear of each other is said here and nowhere else.
 */
export class SchedulerPod {
  readonly dispatcher: Dispatcher;
  readonly recovery: Recovery;
  readonly engine: Engine;
  readonly acquirer: LeaseAcquirer;
  readonly catalogCache: CatalogCache;
  readonly #assignment: Assignment;
  readonly #takeover: Takeover;
  readonly #heartbeat: MembershipHeartbeat;
  readonly #duePublisher: DuePublisher;
  /** `null`: the ledger is in nobody's own database. */
  readonly #relay: OutboxRelay | null;
  readonly #name: string;
  readonly #timing: PodTiming;
  readonly #freshness: { knownAt: number };
  readonly #handingOver = new Set<Promise<void>>();
  #watches: StopWatching[] = [];
  /** Who was there at the last heartbeat, this pod included. */
  members: HeartbeatReply['members'] = [];
  #stopped = false;

  constructor(private readonly deps: SchedulerPodDeps) {
    const { clock, telemetry, timing = POD_TIMING, freshness = { knownAt: -Infinity } } = deps;
    const pod = deps.keeper.holder;
    this.#name = pod;
    this.#timing = timing;
    this.#freshness = freshness;
    this.dispatcher = new Dispatcher({ ...deps, freshness, schedules: new Schedules({ clock, telemetry }) });
    this.recovery = new Recovery({ ...deps, dispatcher: this.dispatcher });
    this.#duePublisher = new DuePublisher(deps);
    this.engine = new Engine({
      ...deps,
      timing,
      dispatcher: this.dispatcher,
      recovery: this.recovery,
      duePublisher: this.#duePublisher,
      onDropped: (held, why) => this.#track(this.#onDropped(held, why)),
    });
    const isHeld = (cron: string) => this.engine.held(cron) !== undefined;
    this.#relay = this.#relayOf(isHeld);
    this.acquirer = new LeaseAcquirer({
      ...deps,
      isHeld,
      onGranted: (leases) => this.#onGranted(leases),
      onGivenUp: (crons) => this.#duePublisher.publish(crons.map((cron) => [cron, clock.now()])),
      onLost: (leases) => this.engine.letGo(this.#heldUnder(leases)),
    });
    this.catalogCache = new CatalogCache({
      ...deps,
      freshness,
      onChanged: (changed, gone) => this.#onCatalog(changed, gone),
    });
    const { acquirer, catalogCache } = this;
    const onReassigned = (crons: readonly string[]) => this.#handOver(crons);
    this.#assignment = new Assignment({ ...timing, pod, catalogCache, acquirer, telemetry, isHeld, onReassigned });
    this.#takeover = new Takeover({ ...deps, timing, pod, catalogCache, take: (crons) => acquirer.take(crons) });
    const onHeartbeat = (reply: HeartbeatReply, askedAt: number) => this.#onHeartbeat(reply, askedAt);
    this.#heartbeat = new MembershipHeartbeat({ ...deps, ...timing, pod, onHeartbeat });
  }

  /** The store's clock at the last word on the catalog. */
  get knownAt(): number {
    return this.#freshness.knownAt;
  }

  /** How many crons should be this pod's. */
  get assigned(): number {
    return this.#assignment.size;
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
  }

  /** Stops claiming, releases all leases in one batch, leaves the membership; only then the rest. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.acquirer.halt();
    const held = this.engine.heldNames().flatMap((name) => this.engine.held(name)?.lease ?? []);
    // A heartbeat on its way would bring this pod back after its leave.
    await Promise.all([this.engine.stop(), this.#heartbeat.stop(), this.#takeover.stop(), this.#relay?.stop()]);
    await this.acquirer.releaseAll(held);
    await this.#leave();
    await Promise.all([
      this.acquirer.stop(),
      this.catalogCache.stop(),
      this.#duePublisher.settled(),
      ...this.#handingOver,
    ]);
    await Promise.all(this.#watches.splice(0).map((stop) => stop()));
  }

  #relayOf(isMine: (cron: string) => boolean): OutboxRelay | null {
    const { dispatcher } = this;
    const { ledger, sweepEveryMs: lookEveryMs } = this.deps;
    return isTransactional(ledger) ? new OutboxRelay({ ...this.deps, ledger, dispatcher, lookEveryMs, isMine }) : null;
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
    if (this.acquirer.wants(cron)) this.acquirer.wake(cron);
    // Somebody gives up what is not ours: a pod has come, or goes.
    else if (this.engine.held(cron) === undefined) this.#heartbeat.early();
  }

  #onHeartbeat(reply: HeartbeatReply, askedAt: number): void {
    this.members = reply.members;
    this.catalogCache.hear(reply, askedAt);
    this.#assignment.hear(reply);
    const foreign = reply.overdue.filter((late) => !this.#onOverdue(late, reply));
    if (foreign.length > 0) this.#takeover.hear(reply, foreign);
  }

  /** @returns whether nobody else has to see to it */
  #onOverdue(late: OverdueCron, reply: HeartbeatReply): boolean {
    const { cron } = late;
    if (this.engine.held(cron) === undefined) {
      if (!this.catalogCache.isCurrent(reply) || this.catalogCache.get(cron)) return false;
      // What no longer exists would be overdue for ever.
      this.#duePublisher.publish([[cron, null]]);
    } else if (isRecheckRequest(late, reply.now)) this.engine.recheck(cron);
    else this.engine.publishDueAgain(cron);
    return true;
  }

  #onCatalog(changed: readonly CatalogEntry[], gone: readonly string[]): void {
    for (const entry of changed) this.engine.update(entry);
    this.#handOver(gone);
    this.#assignment.assign();
  }

  #onGranted(leases: readonly Lease[]): void {
    const held = leases.flatMap((lease) => {
      const entered = this.catalogCache.get(lease.resource);
      return entered ? [holdCron(entered.entry, lease)] : [];
    });
    this.engine.hold(held);
    for (const { entry } of held) if (isManual(entry.definition.expression)) this.#relay?.look(entry.definition.name);
    if (held.length < leases.length) this.#track(this.#releaseUnknown(leases));
  }

  /** Removed while its lease was being asked for. */
  async #releaseUnknown(leases: readonly Lease[]): Promise<void> {
    await this.acquirer.release(leases.filter(({ resource }) => !this.catalogCache.get(resource)));
  }

  #heldUnder(leases: readonly Lease[]): HeldCron[] {
    return leases.flatMap((lease) => {
      const held = this.engine.held(lease.resource);
      return held?.lease === lease ? [held] : [];
    });
  }

  /** After the claims under way: the next holder finds nothing half done. */
  #handOver(crons: readonly string[]): void {
    const held = crons.flatMap((cron) => this.engine.held(cron) ?? []);
    if (held.length > 0) this.#track(this.#giveUp(held));
  }

  async #giveUp(held: readonly HeldCron[]): Promise<void> {
    await this.engine.letGo(held);
    if (!this.#stopped) await this.acquirer.release(held.map(({ lease }) => lease));
  }

  async #onDropped(held: HeldCron, why: DropReason): Promise<void> {
    const { clock } = this.deps;
    const { name } = held.entry.definition;
    // Another pod may reach what this one can't: it hears that the cron is waiting.
    if (why === 'failing') this.#duePublisher.publish([[name, clock.now() - held.aheadMs]]);
    await this.acquirer.abandon(held.lease, why === 'failing' ? this.#timing.leftToOthersMs : 0);
    if (why === 'outdated' && !this.#stopped) await this.catalogCache.catchUp(held.entry);
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#handingOver.delete(tracked));
    this.#handingOver.add(tracked);
  }
}
