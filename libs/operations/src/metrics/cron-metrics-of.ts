import type { Clock } from '@fencepost/lease';
import type { MetricsRegistry } from '@fencepost/lease/metrics';
import type { Telemetry } from '@fencepost/jobs';
import { CronLabels, DEFAULT_CRONS, mostOf, type CronsTold } from './cron-labels.js';
import { countEvents } from './event-counts.js';
import { HeldGauges } from './held-gauges.js';
import { forgetCron, instruments, type Instruments, showApp, showSaid, showZeros } from './instruments.js';
import { LastSuccess } from './last-success.js';
import type { MetricSources } from './sources.js';
import { StoreGauges } from './store-gauges.js';
import type { CatalogEntry } from '@fencepost/ledger/catalog';

export interface CronMetricsDeps {
  readonly registry: MetricsRegistry;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sources: MetricSources;
  /** How many crons have series of their own; default {@link DEFAULT_CRONS}. */
  readonly crons?: CronsTold;
}

export interface CronMetrics {
  /** Chooses the crons that are told apart, before anything is counted. */
  begin(): Promise<void>;
  /** Counts nothing any more; what was counted stays in the registry. */
  stop(): void;
}

/**
 * Counts everything about crons and their runs into a registry, from the events of this process; gauges are looked up when the
 * registry is read.
 * @throws {SetupError} when the registry has these metrics already
 */
export function cronMetrics({
  registry,
  telemetry,
  clock,
  sources,
  crons = DEFAULT_CRONS,
}: CronMetricsDeps): CronMetrics {
  const count: Instruments = instruments({ registry, look: () => observer.look() });
  const lastSuccess = new LastSuccess(count.lastSuccess);
  const labels = new CronLabels(mostOf(crons), (cron) => {
    forgetCron(count, cron);
    lastSuccess.forget(cron);
  });
  const parts = { count, labels, clock, lastSuccess };
  const heldGauges = new HeldGauges(parts);
  const storeGauges = new StoreGauges({ ...parts, telemetry, sources });
  const observer = new CronObserver({ ...parts, sources, heldGauges, storeGauges });
  if (sources.app !== null) showApp(count, sources.app);
  const stop = telemetry.listen(countEvents(parts));
  return { begin: () => observer.choose(), stop };
}

interface CronObserverDeps {
  readonly count: Instruments;
  readonly labels: CronLabels;
  readonly clock: Clock;
  readonly sources: MetricSources;
  readonly heldGauges: HeldGauges;
  readonly storeGauges: StoreGauges;
}

/** A process that schedules may also be a worker. */
const OF_SCHEDULERS = new Set(['scheduler', 'worker', 'both'] as const);
const OF_WORKERS = new Set(['worker', 'both'] as const);

/** One page asks for every gauge at once, and two who scrape may come together. */
const LOOK_LASTS_MS = 1_000;

/** Looks things up when somebody asks for the metrics, and never else: what nobody reads costs nothing. */
class CronObserver {
  #looking: Promise<void> | null = null;
  #lookedAt = -Infinity;
  #ranked: readonly CatalogEntry[] | null = null;

  constructor(private readonly deps: CronObserverDeps) {}

  /** Never rejects. */
  look(): Promise<void> {
    const now = this.deps.clock.monotonic();
    if (this.#looking && now - this.#lookedAt < LOOK_LASTS_MS) return this.#looking;
    this.#lookedAt = now;
    this.#looking = this.#look();
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { sources, heldGauges, storeGauges } = this.deps;
    await this.choose();
    const held = sources.held();
    if (held) heldGauges.show(held);
    this.#showBehind();
    await this.#showStandstills();
    await storeGauges.show(held && held.map(({ entry }) => entry));
  }

  /** What could not be read stays as it was. */
  async #showStandstills(): Promise<void> {
    const { count, labels, sources } = this.deps;
    const found = await sources.standstills().catch(() => null);
    if (found === null) return;
    count.cronStandstill.reset();
    for (const { cron, cause } of found) count.cronStandstill.inc({ cron: labels.of(cron), cause });
  }

  #showBehind(): void {
    const { count, sources } = this.deps;
    const behind = sources.behind();
    if (behind === null) return;
    count.dueLateness.set(behind.lateMs / 1_000);
    count.dueBacklog.set(behind.crons);
    count.leaseStoreDown.set((sources.leasesDownMs() ?? 0) / 1_000);
  }

  /** Says which crons are told apart; what could not be read stays as it was. */
  async choose(): Promise<void> {
    const { count, labels, sources, heldGauges } = this.deps;
    const entries = await sources.catalog().catch(() => null);
    if (entries === null || entries === this.#ranked) return;
    this.#ranked = entries;
    // One that has just lost everything, or is not filled yet, is no reason to throw away what was counted.
    if (entries.length > 0) labels.choose(byImportance(entries, (entry) => heldGauges.intervalOf(entry)));
    const named = entries.map(({ definition: { name } }) => labels.of(name));
    showZeros(count, [...new Set(named)], sources.held() === null ? OF_WORKERS : OF_SCHEDULERS);
    count.otherCrons.set(entries.filter(({ definition: { name } }) => labels.of(name) !== name).length);
    if (sources.held() === null) return;
    showSaid(count, entries, labels);
    for (const state of ['active', 'disabled', 'removed'] as const) {
      count.definitions.set({ state }, entries.filter((entry) => entry.state === state).length);
    }
  }
}

/** How far two instants of a cron lie apart, milliseconds; `null` for one that has none. */
type IntervalOf = (entry: CatalogEntry) => number | null;

/**
 * Names of crons, the most important first: those that fire before those that don't, of these the ones somebody set a dead
 * man's switch on, then the rarest. The one run of a night that fails is lost in a sum over all crons; one that fires each
 * second shows in it.
 */
function byImportance(entries: readonly CatalogEntry[], intervalOf: IntervalOf): string[] {
  const ranked = entries.map((entry) => ({
    name: entry.definition.name,
    rank: entry.state !== 'active' ? 2 : isWatched(entry) ? 0 : 1,
    intervalMs: intervalOf(entry) ?? 0,
  }));
  ranked.sort((a, b) => a.rank - b.rank || b.intervalMs - a.intervalMs || (a.name < b.name ? -1 : 1));
  return ranked.map(({ name }) => name);
}

function isWatched({ definition }: CatalogEntry): boolean {
  return 'expectEveryMs' in definition && definition.expectEveryMs !== undefined;
}
