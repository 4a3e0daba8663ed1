import { knownCron, type KnownCron } from '@fencepost/jobs/internal';
import type { Clock, LeaseStore } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { Catalog, CatalogReading } from '@fencepost/ledger/catalog';
import type { Run } from '@fencepost/ledger/run';
import { CronHistories, MAX_KEPT, MAX_SKIPS, type LiveEvents } from '../operating/cron-histories.js';
import { historyOf, MAX_MARKS } from '../operating/cron-history.js';
import { overviewOf } from '../operating/cron-overview.js';
import type { DoctorFinding } from '../operating/doctor-facts.js';
import { declarationsOf, type LiveDeclarations, type LiveRevisions } from '../operating/live-revisions.js';
import { filterInSlices, inSlices, mapInSlices } from '../operating/slices.js';
import { standstillsOf } from '../alarms/standstills.js';
import { triageOf, type TriageJson } from './triage.js';
import { fits, isIn, uncertainOf, type CronFilter, type CronSnapshot } from './cron-filter.js';
import { CronOrder, type CronSorting } from './cron-order.js';
import { holdersOf } from './holders.js';
import { CronViews, MAX_UNCERTAIN, type CronView } from './cron-views.js';
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
  /** Without it, nothing is known of the pods that declare a cron. */
  readonly revisions?: Pick<LiveRevisions, 'recent'>;
}

/** All crons at one look. */
interface Look {
  readonly at: number;
  readonly reading: CatalogReading;
  readonly tookMs: number;
  counts: CronCounts | null;
}

const FRESH_MS = 2_000;
/** Where a look at all of them takes this long, whoever looks again and again gets the one before while the next goes on. */
const SLOW_MS = 100;
const MAX_AGE_MS = 10_000;
/** Such a look takes at most this part of the time, as what is asked for meanwhile waits for it. */
const AT_MOST_A = 20;

/**
 * All crons at one look. What is the same for everybody who looks is read once in two seconds, of many crons some at a time, so
 * that a look costs no more however many there are; what is on a page is read for it; and the histories little by little, while
 * somebody looks.
 */
export class CronDirectory {
  readonly #histories: CronHistories;
  readonly #views: CronViews;
  #looking: Promise<Look> | null = null;
  #last: Look | null = null;
  #busy: Promise<unknown> = Promise.resolve();
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
    this.#views = new CronViews(reads, (cron) => this.#histories.of(cron));
    this.#histories.tell({
      happened: (cron) => this.#views.touch(cron),
      read: (cron) => this.#views.rejudge(cron),
    });
  }

  /** @throws {OperatorInputError} for a cursor of another list */
  async page({ limit, cursor, sort, order, ...filter }: CronQuery): Promise<CronPage> {
    const look = await this.#recent();
    const { reading } = look;
    const by = new CronOrder({ sort, order });
    const sorted = await this.#views.sorted(by);
    const fitting = isOpen(filter) ? sorted : await filterInSlices(sorted, (view) => fits(view, filter));
    const { shown: found, next } = by.page(fitting, limit, cursor);
    const shown = await this.#known(found, look);
    const newest = await this.#newest(shown);
    for (const run of newest) if (run) this.#histories.compare(run);
    const items = await mapInSlices(shown, (view, index) => summaryOf(view, newest[index] ?? null, reading.readAt));
    return { total: fitting.length, items, next, unreadable: [...(reading.unreadable ?? [])] };
  }

  async counts(): Promise<CronCounts> {
    const look = await this.#recent();
    look.counts ??= await inSlices(countsOf(this.#views.all()));
    return look.counts;
  }

  /**
   * What needs a person now.
   * @param examinedAt when the findings were found, by the clock of the store
   */
  async triage(findings: readonly DoctorFinding[] = [], examinedAt: number | null = null): Promise<TriageJson> {
    const { readAt: now } = (await this.#recent()).reading;
    const triage = triageOf({ now, crons: this.#views.all(), findings, examinedAt, troubleAt: this.#troubleAt });
    if (triage.items.length > 0) this.#troubleAt = now;
    return triage;
  }

  /** @throws {UnknownCronError} with names that are like it */
  async detail(cron: string): Promise<CronDetailJson> {
    const { entry, now } = await this.known(cron);
    const [[record], [lease], runs, skips, unresolved, keys, live] = await Promise.all([
      this.reads.ledger.readCrons([cron]),
      holdersOf(this.reads.leases, [cron]),
      this.reads.ledger.runs(cron, MAX_MARKS),
      this.reads.ledger.skips(cron, MAX_SKIPS),
      this.reads.ledger.runsIn('uncertain', [cron], MAX_UNCERTAIN),
      this.reads.ledger.countKeys(cron),
      this.#live(),
    ]);
    if (live) this.#views.standstills = standstillsOf(live.pods);
    const overview = overviewOf(entry, { record, last: runs[0] ?? null }, now);
    const history = historyOf(runs, skips, entry.definition.graceMs);
    const uncertain = uncertainOf(unresolved);
    const seen = { entry, record: record ?? { cursor: null, paused: null }, uncertain };
    const observed = {
      lease: lease ?? null,
      uncertain: uncertain.count,
      history,
      health: this.#views.health(seen, history, now),
    };
    const declarations = live && declarationsOf(entry, live);
    const { refusals } = record ?? { refusals: 0 };
    return presentCronDetail({ overview, entry, keys, declarations, record: { refusals } }, observed);
  }

  /** @throws {UnknownCronError} with names that are like it */
  known(cron: string): Promise<KnownCron> {
    return knownCron(this.reads.catalog, cron);
  }

  /** The name of every cron, by name. */
  async names(): Promise<string[]> {
    return (await this.#recent()).reading.entries.map(({ definition }) => definition.name);
  }

  /** By the store's clock, a moment ago. */
  async now(): Promise<number> {
    const { reading, at } = await this.#recent();
    return reading.readAt + Math.max(0, this.clock.monotonic() - at);
  }

  /** Something was changed by way of this process: who looks next wants to see it. */
  forget(): void {
    [this.#looking, this.#last] = [null, null];
  }

  /** Reads what is not known of the histories, or may have changed, all at once: for a program without events. */
  async readHistories(): Promise<void> {
    await this.#fresh();
    await this.#histories.read(this.#views.all());
  }

  /** Nothing is read in the background any more. */
  stop(): void {
    this.#cancel?.();
    this.#histories.stop();
    this.forget();
  }

  /** What is on a page is read before its turn. */
  async #known(views: readonly CronView[], { reading: { readAt } }: Look): Promise<CronView[]> {
    await this.#views.look(
      views.filter(({ seenAt }) => seenAt === null || seenAt < readAt).map(({ name }) => name),
      readAt,
    );
    const now = () => views.map((view) => this.#views.get(view.name) ?? view);
    await this.#histories.readNow(now().filter(({ history }) => history === null));
    return now();
  }

  /** The newest run of each. */
  async #newest(snapshots: readonly CronSnapshot[]): Promise<(Run | null)[]> {
    const names = snapshots.map(({ entry }) => entry.definition.name);
    return (await this.reads.ledger.newestRuns(names, 1)).map(([last = null]) => last);
  }

  /** As old as a page that asks every few seconds allows; where a look at all of them is quick, fresh. */
  async #recent(): Promise<Look> {
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

  #fresh(): Promise<Look> {
    const now = this.clock.monotonic();
    if (this.#looking && now - this.#readAt < FRESH_MS) return this.#looking;
    // One at a time: the next one sees what this one has not.
    const looking = this.#busy.then(() => this.#look(now));
    this.#busy = looking.catch(() => {});
    [this.#looking, this.#readAt] = [looking, now];
    // One that failed is asked again by whoever looks next.
    looking.then(
      (look) => void (this.#looking === looking && (this.#last = look)),
      () => this.#looking === looking && this.forget(),
    );
    return looking;
  }

  async #look(at: number): Promise<Look> {
    const [reading, live] = await Promise.all([this.reads.catalog.read(), this.#live()]);
    if (this.#histories.listen()) this.#views.forget();
    this.#views.standstills = standstillsOf(live?.pods ?? []);
    await this.#views.refresh(reading);
    this.#histories.follow(this.#followed(reading));
    return { at, reading, tookMs: this.clock.monotonic() - at, counts: null };
  }

  /** `null`: unknown. */
  async #live(): Promise<LiveDeclarations | null> {
    return (await this.reads.revisions?.recent().catch(() => null)) ?? null;
  }

  #followed({ entries }: CatalogReading): CronView[] {
    return entries.slice(0, MAX_KEPT).flatMap(({ definition }) => this.#views.get(definition.name) ?? []);
  }
}

/** Whether all crons fit. */
function isOpen(filter: CronFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

function* countsOf(views: readonly CronView[]): Generator<void, CronCounts> {
  const counts = { total: views.length, active: 0, paused: 0, disabled: 0, removed: 0, uncertain: 0 };
  for (const view of views) {
    for (const state of ['active', 'paused', 'disabled', 'removed'] as const) {
      if (isIn(view, state)) counts[state] += 1;
    }
    counts.uncertain += view.uncertain.count;
    yield;
  }
  return counts;
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
