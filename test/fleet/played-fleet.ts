import { MemoryLeaseStore } from '@fencepost/lease/testing';
import type { CatalogChanges } from '@fencepost/ledger/catalog';
import { MemoryCatalog, MemoryLedger } from '@fencepost/ledger/memory';
import { candidates, firstOf, hashOf } from '@fencepost/jobs/internal/scheduling';
import { runTicks, VirtualClock } from '../simulation/virtual-clock.js';
import { seededRandom } from '../support/seeded-random.js';
import type { Costs } from './costs.js';
import { PlayedPod, type PlayedStores } from './played-pod.js';
import { SparseMembership } from './sparse-membership.js';
import { StoreServer } from './store-server.js';

export interface PlayedOptions {
  readonly schedules: number;
  readonly pods: number;
  readonly seed: number;
  readonly costs: Costs;
  /** Crons that are played for all schedules. */
  readonly played: number;
  /** Instants of all schedules in a second, on average. */
  readonly instantsPerSecond: number;
}

/** How the hand-overs of one event went. */
export interface HandOvers {
  /** Terms that began, of those that had to and of all. */
  readonly handOvers: number;
  readonly ideal: number;
  /** How long each of the crons had no holder, milliseconds, ascending; and those that are due at each minute. */
  readonly gapsMs: readonly number[];
  readonly dueGapsMs: readonly number[];
  readonly seconds: number;
}

export interface PlayedResult {
  readonly bootS: number;
  readonly idle: { readonly commandsPerSecond: number; readonly redisPercent: number };
  readonly deploy: HandOvers;
  readonly zoneLoss: HandOvers & { readonly dead: number };
}

/** From this hour on the played crons fire; before it the fleet boots and is idle. */
const HOUR = 13;
const DUE = 'due';
const FIRE_AT = Date.UTC(2030, 5, 1, HOUR);
const CALM_MS = 30_000;
/** A round of the sweeps, which ask about all crons once a minute. */
const IDLE_MS = 60_000;
const LOOK_MS = 100;
const PATIENCE_MS = 3_600_000;
const SETTLE_MS = 5_000;
/** A rolling update with a surge of a fifth of the pods. */
export const WAVES = 5;
export const ZONES = 3;
/** A zone is lost so long before a minute begins: before most instants are due, the worst moment. */
export const BEFORE_THE_MINUTE_MS = 30;
const MINUTE_MS = 60_000;
/**
 * Of the played crons so many for each pod are due at every minute, and stand for the instants of that minute. The others are due
 * next year, and stand for all schedules that are not due in the minutes that are played.
 */
const DUE_PER_POD = 10;

/**
 * All pods of a deployment as they are, on stores in memory: membership, assignment, leases, takeover, claims. A played cron
 * stands for a group of schedules, and each call costs the server what it costs for all of them.
 */
export class PlayedFleet {
  readonly #clock: VirtualClock;
  readonly #server: StoreServer;
  readonly #stores: PlayedStores;
  readonly #random: () => number;
  readonly #freeSince = new Map<string, number>();
  readonly #names: readonly string[];
  /** How many instants an instant stands for, and how many schedules a cron. */
  readonly #stand: { readonly unit: number; readonly due: number; readonly idle: number };
  #gaps: { readonly cron: string; readonly ms: number }[] = [];
  #acquired = 0;
  #pods: PlayedPod[] = [];
  #born = 0;

  constructor(private readonly options: PlayedOptions) {
    const clock = new VirtualClock(FIRE_AT - bootMs(options) - 2 * CALM_MS - IDLE_MS);
    this.#clock = clock;
    this.#server = new StoreServer(clock);
    const catalog = new SharedCatalog(clock, options.played);
    this.#random = seededRandom(options.seed);
    this.#stores = {
      ...{ catalog, leases: new MemoryLeaseStore({ clock }), ledger: new MemoryLedger(clock) },
      membership: new SparseMembership({ clock, version: () => catalog.version }),
    };
    const due = DUE_PER_POD * options.pods;
    this.#names = Array.from({ length: options.played }, (_, n) => `${n < due ? DUE : 'idle'}-${n}`);
    const unit = (options.instantsPerSecond * MINUTE_MS) / 1_000 / due;
    const mean = options.schedules / options.played;
    const weight = Math.min(unit, mean);
    this.#stand = { unit, due: weight, idle: (options.schedules - due * weight) / (options.played - due) };
  }

  async play(): Promise<PlayedResult> {
    const { catalog } = this.#stores;
    const declarations = this.#names.map((name) => ({ definition: definitionOf(name), disabled: false }));
    await catalog.declare(declarations, { revision: 1, app: 'fleet' });
    const took = await this.#timed(() => this.#join(this.options.pods), 'every pod to boot');
    await this.#run(CALM_MS);
    const idle = await this.#idle();
    await this.#run(Math.max(0, FIRE_AT - this.#clock.now()) + CALM_MS);
    const deploy = await this.#deploy();
    await this.#run(SETTLE_MS);
    return { bootS: took / 1_000, idle, deploy, zoneLoss: await this.#loseZone() };
  }

  #join(count: number): void {
    const { schedules, costs } = this.options;
    const { unit, due, idle } = this.#stand;
    const weightOf = (cron: string) => (cron.startsWith(DUE) ? due : idle);
    for (let n = 0; n < count; n += 1) {
      const name = `scheduler-${String((this.#born += 1)).padStart(4, '0')}`;
      const pod = new PlayedPod({
        ...{ name, clock: this.#clock, server: this.#server, stores: this.#stores, costs, random: this.#random },
        ...{ weightOf, unit, schedules, onEvent: (event, cron) => this.#onEvent(event, cron) },
      });
      this.#pods.push(pod);
      this.#clock.after(this.#random() * 2_000, () => pod.start());
    }
  }

  #onEvent(event: 'lease.acquired' | 'lease.released' | 'lease.lost', cron: string): void {
    const now = this.#clock.monotonic();
    if (event !== 'lease.acquired') {
      if (!this.#freeSince.has(cron)) this.#freeSince.set(cron, now);
      return;
    }
    this.#acquired += 1;
    const since = this.#freeSince.get(cron);
    if (since !== undefined) this.#gaps.push({ cron, ms: now - since });
    this.#freeSince.delete(cron);
  }

  async #idle(): Promise<PlayedResult['idle']> {
    const { commands, busyUs } = this.#server;
    await this.#run(IDLE_MS);
    // Idle no more.
    if (this.#clock.now() >= FIRE_AT) return { commandsPerSecond: NaN, redisPercent: NaN };
    return {
      commandsPerSecond: (this.#server.commands - commands) / (IDLE_MS / 1_000),
      redisPercent: (this.#server.busyUs - busyUs) / IDLE_MS / 10,
    };
  }

  /** New pods join, old ones leave: some at a time, each time when all crons have a holder again. */
  async #deploy(): Promise<HandOvers> {
    const surge = Math.ceil(this.options.pods / WAVES);
    const old = [...this.#pods];
    return this.#counted(async () => {
      let ideal = 0;
      while (old.length > 0) {
        const leaving = old.splice(0, surge);
        const before = this.#members();
        await this.#timed(() => this.#join(leaving.length), 'the new pods to boot');
        const between = this.#members();
        await this.#run(SETTLE_MS);
        for (const pod of leaving) this.#stop(pod);
        this.#pods = this.#pods.filter((pod) => !leaving.includes(pod));
        await this.#timed(() => {}, 'the crons of the old pods to be held');
        await this.#run(SETTLE_MS);
        ideal += this.#moved(before, between) + this.#moved(between, this.#members());
      }
      return ideal;
    });
  }

  #stop(pod: PlayedPod): void {
    this.#free(pod);
    void pod.stop();
  }

  /** A third of the pods, in one moment and without a word. */
  async #loseZone(): Promise<PlayedResult['zoneLoss']> {
    const lost = this.#pods.filter((_, n) => n % ZONES === 0);
    const before = this.#members();
    await this.#run(MINUTE_MS - (this.#clock.now() % MINUTE_MS) - BEFORE_THE_MINUTE_MS);
    const found = await this.#counted(async () => {
      for (const pod of lost) this.#free(pod);
      for (const pod of lost) pod.kill();
      this.#pods = this.#pods.filter((pod) => !lost.includes(pod));
      await this.#timed(() => {}, 'the crons of the lost zone to be held');
      return this.#moved(before, this.#members());
    });
    return { ...found, dead: lost.length };
  }

  #free(pod: PlayedPod): void {
    const now = this.#clock.monotonic();
    for (const cron of pod.heldNames()) this.#freeSince.set(cron, now);
  }

  async #counted(event: () => Promise<number>): Promise<HandOvers> {
    const [acquired, since] = [this.#acquired, this.#clock.monotonic()];
    this.#gaps = [];
    const ideal = await event();
    const seconds = (this.#clock.monotonic() - since) / 1_000;
    const gaps = this.#gaps.toSorted((a, b) => a.ms - b.ms);
    const gapsMs = gaps.map(({ ms }) => ms);
    const dueGapsMs = gaps.flatMap(({ cron, ms }) => (cron.startsWith(DUE) ? [ms] : []));
    return { handOvers: this.#acquired - acquired, ideal, gapsMs, dueGapsMs, seconds };
  }

  #members(): string[] {
    return this.#pods.map(({ process }) => process.name);
  }

  /** Crons whose pod is another one with these members. */
  #moved(before: readonly string[], after: readonly string[]): number {
    const [one, other] = [candidates(before), candidates(after)];
    const hashes = this.#names.map((name) => hashOf(name));
    return hashes.filter((hash) => firstOf(hash, one) !== firstOf(hash, other)).length;
  }

  /** @returns how long it took until all pods were ready and all crons had a holder, virtual milliseconds */
  async #timed(begin: () => void, what: string): Promise<number> {
    const since = this.#clock.monotonic();
    begin();
    const isDone = () =>
      this.#freeSince.size === 0 && this.#pods.every((pod) => pod.isReady) && this.#held() === this.#names.length;
    while (!isDone()) {
      if (this.#clock.monotonic() - since > PATIENCE_MS) throw new Error(`Expected ${what} within an hour.`);
      await this.#run(LOOK_MS);
    }
    return this.#clock.monotonic() - since;
  }

  #held(): number {
    return this.#pods.reduce((sum, pod) => sum + pod.held, 0);
  }

  #run(ms: number): Promise<void> {
    const end = this.#clock.monotonic() + ms;
    return runTicks(() => this.#clock.step(end));
  }
}

/** What is read of it is the same object for all pods, until it changes: a hundred pods have a hundred copies otherwise. */
class SharedCatalog extends MemoryCatalog {
  readonly #pages = new Map<string, CatalogChanges | null>();
  readonly #clock: VirtualClock;

  constructor(
    clock: VirtualClock,
    readonly size: number,
  ) {
    super(clock);
    this.#clock = clock;
  }

  override async since(...asked: Parameters<MemoryCatalog['since']>): Promise<CatalogChanges | null> {
    const name = JSON.stringify([this.version, ...asked]);
    if (!this.#pages.has(name)) this.#pages.set(name, await super.since(...asked));
    const page = this.#pages.get(name);
    return page ? { ...page, readAt: this.#clock.now() } : null;
  }
}

/**
 * More than it takes: the pods read the catalog one after the other, and those that are ready first take the crons of others, which are
 * handed over several times.
 */
function bootMs({ schedules, pods, costs }: PlayedOptions): number {
  const termUs = costs.acquireUs + 2 * costs.readCronUs + costs.releaseUs + costs.publishUs;
  return (schedules * (1.2 * pods * costs.catalogUs + 10 * termUs)) / 1_000 + 5_000;
}

function definitionOf(name: string) {
  return {
    ...{ name, expression: name.startsWith(DUE) ? `* ${HOUR}-23 * * *` : '0 0 1 1 *', timeZone: 'UTC' },
    ...({ misfire: 'fire-once', overlap: 'allow', graceMs: 60_000, catchUpWindowMs: null } as const),
  };
}
