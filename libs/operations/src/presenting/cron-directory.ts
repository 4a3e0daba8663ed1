import { knownCron, type KnownCron } from '@fencepost/jobs/internal';
import type { Clock, LeaseStore } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import type { CronRecord, OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { Catalog, CatalogEntry, CatalogReading } from '@fencepost/ledger/catalog';
import type { Run } from '@fencepost/ledger/run';
import { isManual } from '@fencepost/schedule';
import { overviewOf } from '../operating/cron-overview.js';
import { mapInSlices } from '../operating/slices.js';
import { presentCronDetail, type CronDetailJson } from './cron-detail.js';
import { presentCronSummary, type CronSummaryJson } from './cron-summary.js';

export interface CronFilter {
  readonly search?: string | undefined;
  readonly state?: 'active' | 'paused' | 'disabled' | 'removed' | 'uncertain' | 'unheld' | undefined;
  readonly holder?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface CronPage {
  readonly total: number;
  readonly items: CronSummaryJson[];
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
  readonly ledger: Pick<OccurrenceLog, 'readCrons'> & Pick<RunHistory, 'runs' | 'runsIn' | 'countKeys'>;
  readonly leases: Pick<LeaseStore, 'inspect'>;
}

/** A cron as it was at the last look at all of them. */
interface CronSnapshot {
  readonly entry: CatalogEntry;
  readonly record: CronRecord;
  readonly lease: Holding | null;
  readonly uncertain: number;
}

interface Snapshot {
  readonly at: number;
  readonly reading: CatalogReading;
  readonly snapshots: readonly CronSnapshot[];
}

const FRESH_MS = 2_000;
/** So many crons are asked about in one call. */
const AT_ONCE = 500;
const RUNS_AT_ONCE = 50;
const MAX_UNCERTAIN = 100;

/**
 * All crons at one look. What is the same for everybody who looks is read once in two seconds, in few calls however many
 * crons there are; what is costly, the newest run and the next instant, only of those that are on the page.
 */
export class CronDirectory {
  #snapshot: Promise<Snapshot> | null = null;
  #readAt = -Infinity;

  constructor(
    private readonly reads: DirectoryReads,
    private readonly clock: Clock,
  ) {}

  async page(filter: CronFilter): Promise<CronPage> {
    const { snapshots, reading } = await this.#fresh();
    const fitting = snapshots.filter((snapshot) => fits(snapshot, filter));
    const shown = fitting.slice(filter.offset, filter.offset + filter.limit);
    const newest = await this.#newest(shown);
    const items = await mapInSlices(shown, (snapshot, index) =>
      summaryOf(snapshot, newest[index] ?? null, reading.readAt),
    );
    return { total: fitting.length, items, unreadable: [...(reading.unreadable ?? [])] };
  }

  async counts(): Promise<CronCounts> {
    const { snapshots } = await this.#fresh();
    const count = (state: CronFilter['state']) => snapshots.filter((snapshot) => isIn(snapshot, state)).length;
    return {
      total: snapshots.length,
      active: count('active'),
      paused: count('paused'),
      disabled: count('disabled'),
      removed: count('removed'),
      uncertain: snapshots.reduce((sum, { uncertain }) => sum + uncertain, 0),
    };
  }

  /** @throws {UnknownCronError} with names that are like it */
  async detail(cron: string): Promise<CronDetailJson> {
    const { entry, now } = await this.known(cron);
    const [[record], [lease], runs, uncertain, keys] = await Promise.all([
      this.reads.ledger.readCrons([cron]),
      this.reads.leases.inspect([cron]),
      this.reads.ledger.runs(cron, 1),
      this.reads.ledger.runsIn('uncertain', [cron], MAX_UNCERTAIN),
      this.reads.ledger.countKeys(cron),
    ]);
    const overview = overviewOf(entry, { record, last: runs[0] ?? null }, now);
    const observed = { lease: lease ?? null, uncertain: uncertain.length };
    return presentCronDetail({ overview, entry, keys, record: { refusals: record?.refusals ?? 0 } }, observed);
  }

  /** @throws {UnknownCronError} with names that are like it */
  async known(cron: string): Promise<KnownCron> {
    const { snapshots, reading } = await this.#fresh();
    const seen = snapshots.find(({ entry }) => entry.definition.name === cron);
    // One that was made a moment ago is not in the last look.
    return seen ? { entry: seen.entry, now: reading.readAt } : knownCron(this.reads.catalog, cron);
  }

  /** The name of every cron, by name. */
  async names(): Promise<string[]> {
    return (await this.#fresh()).snapshots.map(({ entry }) => entry.definition.name);
  }

  /** By the store's clock, a moment ago. */
  async now(): Promise<number> {
    const { reading, at } = await this.#fresh();
    return reading.readAt + Math.max(0, this.clock.monotonic() - at);
  }

  /** Something was changed by way of this process: who looks next wants to see it. */
  forget(): void {
    this.#snapshot = null;
  }

  /** The newest run of each, some at a time. */
  async #newest(snapshots: readonly CronSnapshot[]): Promise<(Run | null)[]> {
    const newest: (Run | null)[] = [];
    for (let from = 0; from < snapshots.length; from += RUNS_AT_ONCE) {
      const some = snapshots.slice(from, from + RUNS_AT_ONCE);
      const runs = await Promise.all(some.map(({ entry }) => this.reads.ledger.runs(entry.definition.name, 1)));
      newest.push(...runs.map(([last = null]) => last));
    }
    return newest;
  }

  #fresh(): Promise<Snapshot> {
    const now = this.clock.monotonic();
    if (this.#snapshot && now - this.#readAt < FRESH_MS) return this.#snapshot;
    const reading = this.#read(now);
    [this.#snapshot, this.#readAt] = [reading, now];
    // One that failed is asked again by whoever looks next.
    reading.catch(() => this.#snapshot === reading && this.forget());
    return reading;
  }

  async #read(at: number): Promise<Snapshot> {
    const reading = await this.reads.catalog.read();
    const snapshots: CronSnapshot[] = [];
    // One after the other: the answers of all of them at once would hold the event loop.
    for (let from = 0; from < reading.entries.length; from += AT_ONCE) {
      snapshots.push(...(await this.#look(reading.entries.slice(from, from + AT_ONCE))));
    }
    return { at, reading, snapshots };
  }

  async #look(entries: readonly CatalogEntry[]): Promise<CronSnapshot[]> {
    const names = entries.map(({ definition }) => definition.name);
    const [records, leases, uncertain] = await Promise.all([
      this.reads.ledger.readCrons(names),
      this.reads.leases.inspect(names),
      this.reads.ledger.runsIn('uncertain', names, MAX_UNCERTAIN),
    ]);
    const waiting = new Map<string, number>();
    for (const { cron } of uncertain) waiting.set(cron, (waiting.get(cron) ?? 0) + 1);
    return entries.flatMap((entry, index) => {
      const record = records[index];
      const snapshot = { entry, lease: leases[index] ?? null, uncertain: waiting.get(entry.definition.name) ?? 0 };
      return record ? [{ ...snapshot, record }] : [];
    });
  }
}

function summaryOf({ entry, record, lease, uncertain }: CronSnapshot, last: Run | null, now: number): CronSummaryJson {
  return presentCronSummary(overviewOf(entry, { record, last }, now), { lease, uncertain });
}

function fits(snapshot: CronSnapshot, { search, state, holder }: CronFilter): boolean {
  return isIn(snapshot, state) && isNamed(snapshot, search) && isHeldBy(snapshot, holder);
}

function isIn({ entry, record, lease, uncertain }: CronSnapshot, state: CronFilter['state']): boolean {
  if (state === undefined) return true;
  if (state === 'uncertain') return uncertain > 0;
  if (state === 'paused') return entry.state === 'active' && record.paused !== null;
  if (state === 'unheld') return lease === null && isDue({ entry, record });
  return entry.state === state;
}

/** Whether it comes to an instant by itself, so that somebody has to act for it. */
function isDue({ entry, record }: Pick<CronSnapshot, 'entry' | 'record'>): boolean {
  return entry.state === 'active' && record.paused === null && !isManual(entry.definition.expression);
}

function isNamed({ entry: { definition } }: CronSnapshot, search: string | undefined): boolean {
  if (search === undefined) return true;
  const part = search.trim().toLowerCase();
  return [definition.name, definition.expression].some((text) => text.toLowerCase().includes(part));
}

function isHeldBy({ lease }: CronSnapshot, holder: string | undefined): boolean {
  if (holder === undefined) return true;
  return lease !== null && ownerPrefix(lease.holder).toLowerCase().includes(holder.trim().toLowerCase());
}
