import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { CronRecord, Delivery, OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { spreadOf } from '@fencepost/schedule';
import type { HeartbeatReply } from '../membership/membership.js';
import { MAX_STANDSTILLS } from '../pods/pod-registry.js';
import type { QueueLimits } from '../queue/queue-limits.js';
import type { SharedSchedules } from '../schedules/schedules.js';
import { reportProgramError, reportStoreFailure } from '../telemetry/report-failure.js';
import { judgeStandstill, type Standstill, type StandstillFacts } from '../telemetry/standstill.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { CatalogCache } from './catalog-cache.js';
import type { Engine } from './engine.js';
import type { HeldCron, Obstacle } from './held-cron.js';
import type { LeaseAcquirer } from './lease-acquirer.js';
import { StoreClock } from './store-clock.js';

export interface StandstillWatchDeps {
  readonly ledger: Pick<OccurrenceLog, 'readCrons' | 'unstarted'> & Pick<RunHistory, 'readRun'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly schedules: SharedSchedules;
  readonly catalogCache: Pick<CatalogCache, 'get'>;
  readonly engine: Pick<Engine, 'held' | 'heldNames'>;
  readonly acquirer: Pick<LeaseAcquirer, 'wanted' | 'storeDownSince'>;
  /** Where the leases of crons are, for people. */
  readonly leasePlace: string;
  /** The limits of the queue that keeps a delivery; without it a paused queue is not told apart from busy workers. */
  readonly queueLimits?: (delivery: Delivery) => Promise<readonly QueueLimits[]>;
}

interface Trouble {
  readonly obstacle: Obstacle;
  /** Monotonic. */
  readonly since: number;
  readonly seenAt: number;
  /** The cursor of the cron then: one that has moved on without an obstacle is over it. */
  readonly cursor: number | null;
}

/** A cron and what is known of it; what a question to the ledger adds comes later. */
interface Suspect {
  readonly entry: CatalogEntry;
  readonly facts: StandstillFacts;
  readonly obstacle: Obstacle | null;
}

const LOOK_EVERY_MS = 5_000;
/** With the time between two looks and a slow store, a cron is never silent for more than a minute. */
const AFTER_MS = 45_000;
/** The index of due times may name a cron anew meanwhile. */
const UNSEEN_MS = 3 * LOOK_EVERY_MS;

/**
 * Says of each cron that should have run and did not why it stands still: in an event, and for the report of its pod, which
 * `doctor`, `list`, the page, the metric and the alarm show. Times it by the monotonic clock of this pod.
 *
 * Costs nothing for crons that fire, and nothing for idle ones: it knows those whose claim met an obstacle, those that the index of
 * due times names as overdue, and looks at all crons of this pod only while the store of the leases fails or the store's clock is
 * behind.
 */
export class StandstillWatch {
  readonly storeClock = new StoreClock();
  readonly #troubles = new Map<string, Trouble>();
  readonly #standing = new Map<string, { readonly found: Standstill; readonly since: number }>();
  #cancel: CancelTimer = () => {};
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: StandstillWatchDeps) {}

  /** The crons that stand still, as of the last look. */
  get found(): readonly Standstill[] {
    return [...this.#standing.values()].slice(0, MAX_STANDSTILLS).map(({ found }) => found);
  }

  /** For how long every attempt to acquire a lease has failed, milliseconds; `null`: the last one was answered. */
  get leasesDownMs(): number | null {
    return this.#leaseStore()?.downMs ?? null;
  }

  start(): void {
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(LOOK_EVERY_MS, () => {
      this.#looking = this.look().then(() => this.start());
    });
  }

  /** Resolves when the look in progress has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** What a try to claim has met; `null`: nothing was in the way. */
  met({ entry, cursor }: HeldCron, obstacle: Obstacle | null): void {
    const { name } = entry.definition;
    if (obstacle !== null) return this.#note(name, obstacle, cursor);
    const trouble = this.#troubles.get(name);
    if (trouble && (trouble.obstacle === 'fails' || trouble.cursor !== cursor)) this.#troubles.delete(name);
  }

  /** @param foreign the overdue crons that no other pod answers for */
  heartbeatAnswered({ now, catalogNow = now }: HeartbeatReply, foreign: readonly string[]): void {
    this.storeClock.show(catalogNow, this.deps.clock.monotonic());
    for (const cron of foreign) this.#note(cron, 'unclaimed', null);
  }

  /** One look at all crons that may stand still. Never rejects. */
  async look(): Promise<void> {
    // Before the first heartbeat nothing is known of the store's time.
    if (!this.storeClock.isKnown) return;
    try {
      this.#forget();
      const suspects = new Map<string, Suspect>();
      for (const one of [...this.#blocked(), ...this.#unheld(), ...this.#behindClock()])
        suspects.set(one.facts.cron, one);
      this.#tell(await this.#judge([...suspects.values()].slice(0, MAX_STANDSTILLS)));
    } catch (error) {
      reportProgramError(this.deps.telemetry, { operation: 'standstill.look' }, error);
    }
  }

  #note(cron: string, obstacle: Obstacle, cursor: number | null): void {
    const now = this.deps.clock.monotonic();
    const known = this.#troubles.get(cron);
    // A cron whose claims fail is given up after some, and then it is overdue as well.
    const isSame = known !== undefined && (known.obstacle === obstacle || obstacle === 'unclaimed');
    this.#troubles.set(cron, isSame ? { ...known, seenAt: now } : { obstacle, since: now, seenAt: now, cursor });
  }

  /** Another pod answers for it now, or it has run. */
  #forget(): void {
    const { clock, engine, acquirer } = this.deps;
    for (const [cron, { obstacle, seenAt }] of this.#troubles) {
      const isOurs = engine.held(cron) !== undefined || acquirer.wanted.has(cron);
      const isOver = obstacle === 'unclaimed' ? clock.monotonic() - seenAt > UNSEEN_MS : !isOurs;
      if (isOver) this.#troubles.delete(cron);
    }
  }

  #blocked(): Suspect[] {
    const now = this.deps.clock.monotonic();
    const leaseStore = this.#leaseStore();
    return [...this.#troubles].flatMap(([cron, { obstacle, since }]) => {
      const ageMs = now - since;
      const facts = { fails: obstacle === 'fails', ...(obstacle === 'unclaimed' && { leaseStore }) };
      return ageMs < AFTER_MS ? [] : this.#suspect(cron, obstacle, { ageMs, facts });
    });
  }

  /** No pod can hold a cron while the store of the leases fails. */
  #unheld(): Suspect[] {
    const { clock, engine, acquirer } = this.deps;
    const leaseStore = this.#leaseStore();
    if (leaseStore === null || leaseStore.downMs < AFTER_MS) return [];
    const now = this.storeClock.now(clock.monotonic());
    const unheld = [...acquirer.wanted].filter((cron) => engine.held(cron) === undefined);
    return this.#dueIn(unheld, { from: now - leaseStore.downMs, to: now, facts: { leaseStore } });
  }

  #leaseStore(): NonNullable<StandstillFacts['leaseStore']> | null {
    const { acquirer, clock, leasePlace: place } = this.deps;
    const { storeDownSince: since } = acquirer;
    return since === null ? null : { place, downMs: clock.monotonic() - since };
  }

  #behindClock(): Suspect[] {
    const { clock, engine, acquirer } = this.deps;
    const monotonic = clock.monotonic();
    const clockBackMs = this.storeClock.backMs(monotonic);
    if (clockBackMs === 0) return [];
    // A lease that was acquired ahead of the step outlives it, also one that nobody holds any more.
    const crons = [...new Set([...engine.heldNames(), ...acquirer.wanted])];
    return this.#dueIn(crons, { ...this.storeClock.missing(monotonic), facts: { clockBackMs } });
  }

  /** The crons that have had an instant in a time in which nothing could be claimed. */
  #dueIn(crons: readonly string[], { from, to, facts }: Lost): Suspect[] {
    return crons.flatMap((cron) => {
      const entry = this.deps.catalogCache.get(cron)?.entry;
      const dueAt = entry ? this.#firstDue(entry, from) : null;
      const ageMs = dueAt === null ? 0 : to - dueAt;
      return ageMs < AFTER_MS ? [] : this.#suspect(cron, null, { ageMs, facts });
    });
  }

  #suspect(cron: string, obstacle: Obstacle | null, { ageMs, facts }: Known): Suspect[] {
    const entry = this.deps.catalogCache.get(cron)?.entry;
    if (!entry || entry.state !== 'active') return [];
    const now = Math.round(this.storeClock.now(this.deps.clock.monotonic()));
    const since = Math.round(now - ageMs);
    return [{ entry, obstacle, facts: { ...facts, cron, now, since } }];
  }

  /** With what the ledger knows, where it answers. */
  async #judge(suspects: readonly Suspect[]): Promise<Standstill[]> {
    if (suspects.length === 0) return [];
    const names = suspects.map(({ facts }) => facts.cron);
    const records = await this.#read(names.length, () => this.deps.ledger.readCrons(names));
    const found: Standstill[] = [];
    for (const [n, suspect] of suspects.entries()) {
      const facts = await this.#factsOf(suspect, records?.[n]);
      if (facts) found.push(judgeStandstill(facts));
    }
    return found;
  }

  /** `null`: it does not stand still after all, or waits for a run that is being executed. */
  async #factsOf({ entry, facts, obstacle }: Suspect, record: CronRecord | undefined): Promise<StandstillFacts | null> {
    const paused = record?.paused ?? null;
    if (obstacle === 'paused') return paused && { ...facts, paused };
    if (obstacle === 'blocked') return this.#waiting(facts);
    if (paused !== null) return null;
    if (record === undefined || facts.clockBackMs !== undefined) return facts;
    const dueAt = this.#firstDue(entry, record.cursor);
    return dueAt !== null && dueAt <= facts.now - AFTER_MS ? { ...facts, since: dueAt } : null;
  }

  /** When the first instant was due that the ledger has no record of. */
  #firstDue({ definition, since }: CatalogEntry, cursor: number | null): number | null {
    const schedule = this.deps.schedules.of(definition);
    const next = schedule?.next(Math.max(since, cursor ?? since)) ?? null;
    return schedule && next !== null ? next + spreadOf(definition.name, schedule.spreadOverMs) : null;
  }

  async #waiting(facts: StandstillFacts): Promise<StandstillFacts | null> {
    const { ledger, queueLimits } = this.deps;
    return this.#read(1, async () => {
      const [first] = await ledger.unstarted(facts.cron, 1);
      const run = first ? await ledger.readRun(first.runId) : null;
      if (!first || !run) return null;
      const queues = (await queueLimits?.(first)) ?? [];
      const pausedQueue = queues.find(({ isPaused }) => isPaused)?.queue ?? null;
      const since = Math.min(facts.since, run.dueAt);
      return { ...facts, since, waiting: { runId: run.id, why: run.waiting, pausedQueue } };
    });
  }

  async #read<Answer>(count: number, ask: () => Promise<Answer>): Promise<Answer | null> {
    try {
      return await ask();
    } catch (error) {
      reportStoreFailure(this.deps.telemetry, { operation: 'cron.read', count }, error);
      return null;
    }
  }

  #tell(found: readonly Standstill[]): void {
    const { telemetry, clock } = this.deps;
    const now = clock.monotonic();
    const names = new Set(found.map(({ cron }) => cron));
    for (const [cron, { found: before, since }] of this.#standing) {
      if (names.has(cron)) continue;
      this.#standing.delete(cron);
      telemetry.emit('cron.resumed', { cron, cause: before.cause, standstillMs: Math.round(now - since) });
    }
    for (const one of found) {
      const known = this.#standing.get(one.cron);
      this.#standing.set(one.cron, { found: one, since: known?.since ?? now });
      if (known?.found.cause !== one.cause) telemetry.emit('cron.standstill', one);
    }
  }
}

/** The store's clock, epoch milliseconds. */
interface Lost {
  readonly from: number;
  readonly to: number;
  readonly facts: Partial<StandstillFacts>;
}

interface Known {
  readonly ageMs: number;
  readonly facts: Partial<StandstillFacts>;
}
