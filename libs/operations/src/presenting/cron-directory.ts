import { knownCron, type KnownCron } from '@fencepost/jobs/internal';
import type { Clock, LeaseStore } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { CronRecord, OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { Catalog, CatalogEntry, CatalogReading } from '@fencepost/ledger/catalog';
import type { Run } from '@fencepost/ledger/run';
import { CronHistories, MAX_SKIPS, type LiveEvents } from '../operating/cron-histories.js';
import { historyOf, MAX_MARKS, type CronHistory } from '../operating/cron-history.js';
import { overviewOf } from '../operating/cron-overview.js';
import type { DoctorFinding } from '../operating/doctor-facts.js';
import { grouped } from '../operating/doctor-words.js';
import { healthOf, type CronHealth } from '../operating/health-of.js';
import { NextInstants } from '../operating/next-instants.js';
import { mapInSlices } from '../operating/slices.js';
import { triageOf, type TriageJson } from './triage.js';
import { fits, isIn, uncertainOf, type CronFilter, type CronSnapshot } from './cron-filter.js';
import { CronOrder, type CronSorting, type Sortable } from './cron-order.js';
import { presentCronDetail, type CronDetailJson } from './cron-detail.js';
import { presentCronSummary, type CronSummaryJson } from './cron-summary.js';

export interface CronQuery extends CronFilter, CronSorting {
  readonly limit: number;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

export interface CronPage {
  readonly total: number;
  readonly items: CronSummaryJson[];
  /** The `cursor` of the next page; `null`: this is the last one. */
  readonly next: string | null;
  /** Records of the catalog that this program can't read, whatever the filter. */
  readonly unreadable: { readonly name: string; readonly reason: string }[];
}

export interface CronCounts {
  readonly total: number;
  readonly active: number;
  readonly paused: number;
  readonly disabled: number;
  readonly removed: number;
  readonly uncertain: number;
}

/** Where it looks. */
interface DirectoryReads {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Pick<OccurrenceLog, 'readCrons'> &
    Pick<RunHistory, 'runs' | 'newestRuns' | 'skips' | 'newestSkips' | 'runsIn' | 'countKeys'>;
  readonly leases: Pick<LeaseStore, 'inspect'>;
}

interface CronView extends CronSnapshot, Sortable {}

interface Snapshot {
  readonly at: number;
  readonly reading: CatalogReading;
  readonly views: readonly CronView[];
  /** In each order that somebody has asked for. */
  readonly sorted: Map<string, readonly CronView[]>;
  readonly tookMs: number;
}

const FRESH_MS = 2_000;
/** Where a look at all of them takes this long, whoever looks again and again gets the one before while the next goes on. */
const SLOW_MS = 100;
const MAX_AGE_MS = 10_000;
/** Such a look takes at most this part of the time, as what is asked for meanwhile waits for it. */
const AT_MOST_A = 20;
/** So many crons are asked about in one call. */
const AT_ONCE = 500;
const MAX_UNCERTAIN = 100;

/**
 * All crons at one look. What is the same for everybody who looks is read once in two seconds, in few calls however many
 * crons there are; the newest run only of those that are on the page; and the histories little by little, while somebody looks.
 */
export class CronDirectory {
  readonly #histories: CronHistories;
  readonly #instants = new NextInstants();
  #snapshot: Promise<Snapshot> | null = null;
  #last: Snapshot | null = null;
  #cancel: CancelTimer | null = null;
  #readAt = -Infinity;
  #troubleAt: number | null = null;

  /** @param events without them histories are read when `readHistories` is called, and not in the background */
  constructor(
    private readonly reads: DirectoryReads,
    private readonly clock: Clock,
    events: LiveEvents | null = null,
  ) {
    this.#histories = new CronHistories(reads.ledger, clock, events);
  }

  /** @throws {OperatorInputError} for a cursor of another list */
  async page({ limit, cursor, sort, order, ...filter }: CronQuery): Promise<CronPage> {
    const snapshot = await this.#recent();
    const { reading } = snapshot;
    const by = new CronOrder({ sort, order });
    const fitting = sortedBy(by, snapshot).filter((view) => fits(view, filter));
    const { shown: found, next } = by.page(fitting, limit, cursor);
    const shown = await this.#known(found, reading.readAt);
    const newest = await this.#newest(shown);
    for (const run of newest) if (run) this.#histories.compare(run);
    const items = await mapInSlices(shown, (view, index) => summaryOf(view, newest[index] ?? null, reading.readAt));
    return { total: fitting.length, items, next, unreadable: [...(reading.unreadable ?? [])] };
  }

  async counts(): Promise<CronCounts> {
    const { views } = await this.#recent();
    const count = (state: CronFilter['state']) => views.filter((view) => isIn(view, state)).length;
    return {
      total: views.length,
      active: count('active'),
      paused: count('paused'),
      disabled: count('disabled'),
      removed: count('removed'),
      uncertain: views.reduce((sum, { uncertain }) => sum + uncertain.count, 0),
    };
  }

  /** What needs a person now. */
  async triage(findings: readonly DoctorFinding[]): Promise<TriageJson> {
    const { views, reading } = await this.#recent();
    const { readAt: now } = reading;
    const triage = triageOf({ now, crons: views, findings, troubleAt: this.#troubleAt });
    if (triage.items.length > 0) this.#troubleAt = now;
    return triage;
  }

  /** @throws {UnknownCronError} with names that are like it */
  async detail(cron: string): Promise<CronDetailJson> {
    const { entry, now } = await this.known(cron);
    const [[record], [lease], runs, skips, unresolved, keys] = await Promise.all([
      this.reads.ledger.readCrons([cron]),
      this.reads.leases.inspect([cron]),
      this.reads.ledger.runs(cron, MAX_MARKS),
      this.reads.ledger.skips(cron, MAX_SKIPS),
      this.reads.ledger.runsIn('uncertain', [cron], MAX_UNCERTAIN),
      this.reads.ledger.countKeys(cron),
    ]);
    const overview = overviewOf(entry, { record, last: runs[0] ?? null }, now);
    const history = historyOf(runs, skips, entry.definition.graceMs);
    const uncertain = uncertainOf(unresolved);
    const seen = { entry, record: record ?? { cursor: null, paused: null }, uncertain };
    const observed = {
      lease: lease ?? null,
      uncertain: uncertain.count,
      history,
      health: this.#judge(seen, history, now),
    };
    return presentCronDetail({ overview, entry, keys, record: { refusals: record?.refusals ?? 0 } }, observed);
  }

  /** @throws {UnknownCronError} with names that are like it */
  known(cron: string): Promise<KnownCron> {
    return knownCron(this.reads.catalog, cron);
  }

  /** The name of every cron, by name. */
  async names(): Promise<string[]> {
    return (await this.#recent()).views.map(({ entry }) => entry.definition.name);
  }

  /** By the store's clock, a moment ago. */
  async now(): Promise<number> {
    const { reading, at } = await this.#recent();
    return reading.readAt + Math.max(0, this.clock.monotonic() - at);
  }

  /** Something was changed by way of this process: who looks next wants to see it. */
  forget(): void {
    [this.#snapshot, this.#last] = [null, null];
  }

  /** Reads what is not known of the histories, or may have changed, all at once: for a program without events. */
  async readHistories(): Promise<void> {
    await this.#histories.read((await this.#fresh()).views);
    this.forget();
  }

  /** Nothing is read in the background any more. */
  stop(): void {
    this.#cancel?.();
    this.#histories.stop();
  }

  /** What is on a page is read before its turn. */
  async #known(views: readonly CronView[], now: number): Promise<CronView[]> {
    await this.#histories.readNow(views.filter(({ history }) => history === null).map(({ name }) => name));
    return views.map((view) => (view.history ? view : this.#viewOf(view, now)));
  }

  /** The newest run of each. */
  async #newest(snapshots: readonly CronSnapshot[]): Promise<(Run | null)[]> {
    const names = snapshots.map(({ entry }) => entry.definition.name);
    return (await this.reads.ledger.newestRuns(names, 1)).map(([last = null]) => last);
  }

  /** As old as a page that asks every few seconds allows; where a look at all of them is quick, fresh. */
  async #recent(): Promise<Snapshot> {
    const known = this.#last;
    const ageMs = known ? this.clock.monotonic() - known.at : Infinity;
    if (!known || known.tookMs < SLOW_MS || ageMs > MAX_AGE_MS) return this.#fresh();
    if (ageMs >= Math.min(Math.max(FRESH_MS, AT_MOST_A * known.tookMs), MAX_AGE_MS / 2)) this.#freshenSoon();
    return known;
  }

  /** After what is asked for just now: it would wait for that look, too. */
  #freshenSoon(): void {
    this.#cancel ??= this.clock.after(SLOW_MS, () => {
      this.#cancel = null;
      // One that failed is asked again by whoever looks next.
      this.#fresh().catch(() => this.forget());
    });
  }

  #fresh(): Promise<Snapshot> {
    const now = this.clock.monotonic();
    if (this.#snapshot && now - this.#readAt < FRESH_MS) return this.#snapshot;
    const reading = this.#read(now);
    [this.#snapshot, this.#readAt] = [reading, now];
    // One that failed is asked again by whoever looks next.
    reading.then(
      (snapshot) => void (this.#snapshot === reading && (this.#last = snapshot)),
      () => this.#snapshot === reading && this.forget(),
    );
    return reading;
  }

  async #read(at: number): Promise<Snapshot> {
    const reading = await this.reads.catalog.read();
    const snapshots: CronSnapshot[] = [];
    // One after the other: the answers of all of them at once would hold the event loop.
    for (let from = 0; from < reading.entries.length; from += AT_ONCE) {
      snapshots.push(...(await this.#look(reading.entries.slice(from, from + AT_ONCE))));
    }
    this.#instants.keep(reading.entries);
    this.#histories.follow(snapshots);
    const views = await mapInSlices(snapshots, (snapshot) => this.#viewOf(snapshot, reading.readAt));
    return { at, reading, views, sorted: new Map(), tookMs: this.clock.monotonic() - at };
  }

  #viewOf(snapshot: CronSnapshot, now: number): CronView {
    const { name } = snapshot.entry.definition;
    const history = this.#histories.of(name);
    const health = this.#judge(snapshot, history, now);
    return { ...snapshot, name, history, health, next: this.#instants.next(snapshot.entry, now) };
  }

  #judge({ entry, record, uncertain }: Judged, history: CronHistory | null, now: number): CronHealth {
    const nextDueAt = this.#instants.firstDue(entry, record.cursor);
    return healthOf({ entry, record, uncertain, history, nextDueAt, now });
  }

  async #look(entries: readonly CatalogEntry[]): Promise<CronSnapshot[]> {
    const names = entries.map(({ definition }) => definition.name);
    const [records, leases, uncertain] = await Promise.all([
      this.reads.ledger.readCrons(names),
      this.reads.leases.inspect(names),
      this.reads.ledger.runsIn('uncertain', names, MAX_UNCERTAIN),
    ]);
    const uncertainOfEach = grouped(uncertain, ({ cron }) => cron);
    return entries.flatMap((entry, index) => {
      const record = records[index];
      const runs = uncertainOfEach.get(entry.definition.name) ?? [];
      return record ? [{ entry, record, lease: leases[index] ?? null, uncertain: uncertainOf(runs) }] : [];
    });
  }
}

type Judged = Pick<CronSnapshot, 'entry' | 'uncertain'> & { readonly record: Pick<CronRecord, 'cursor' | 'paused'> };

function sortedBy(order: CronOrder, { views, sorted }: Snapshot): readonly CronView[] {
  const known = sorted.get(order.key) ?? order.sorted(views);
  sorted.set(order.key, known);
  return known;
}

function summaryOf(view: CronView, last: Run | null, now: number): CronSummaryJson {
  const { entry, record, lease, uncertain, health, history } = view;
  return presentCronSummary(overviewOf(entry, { record, last }, now), {
    lease,
    uncertain: uncertain.count,
    health,
    history,
  });
}
