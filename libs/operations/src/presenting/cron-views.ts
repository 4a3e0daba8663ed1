import type { LeaseStore } from '@fencepost/lease';
import type { CronRecord, OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { CatalogEntry, CatalogReading } from '@fencepost/ledger/catalog';
import type { CronHistory } from '../operating/cron-history.js';
import { grouped } from '../operating/grouped.js';
import { healthOf, type CronHealth } from '../operating/health-of.js';
import { NextInstants } from '../operating/next-instants.js';
import type { Standstill } from '../alarms/standstills.js';
import { filterInSlices, inSlices, mapInSlices, mergeInSlices } from '../operating/slices.js';
import { uncertainOf, type CronSnapshot } from './cron-filter.js';
import { holdersOf } from './holders.js';
import type { CronOrder, Sortable } from './cron-order.js';

/** A cron as it was when it was looked at. */
export interface CronView extends CronSnapshot, Sortable {
  /** The store's clock then; `null`: nobody has looked yet. */
  readonly seenAt: number | null;
}

interface ViewReads {
  readonly ledger: Pick<OccurrenceLog, 'readCrons'> & Pick<RunHistory, 'runsIn'>;
  readonly leases: Pick<LeaseStore, 'inspect'>;
}

/** So many crons are asked about in one call. */
const AT_ONCE = 500;
/**
 * One look asks about at most so many, whatever the number of crons: those that are new, that something happened to, or that
 * were looked at longest ago.
 */
const LOOKED_AT_MOST = 5_000;
export const MAX_UNCERTAIN = 100;
const UNSEEN: CronRecord = { cursor: null, paused: null } as CronRecord;

interface Sorted {
  readonly order: CronOrder;
  readonly names: Promise<readonly string[]>;
  /** Crons that have another place by now, or none. */
  readonly moved: Set<string>;
}

/** What is known of every cron, brought up to date a bounded part at a time. */
export class CronViews {
  /** What was looked at longest ago comes first. */
  readonly #views = new Map<string, CronView>();
  /** To be looked at before their turn. */
  readonly #due = new Set<string>();
  readonly #instants = new NextInstants();
  /** In each order that somebody has asked for. */
  readonly #sorted = new Map<string, Sorted>();
  #entries: readonly CatalogEntry[] = [];
  #standstills: ReadonlyMap<string, Standstill> = new Map();

  constructor(
    private readonly reads: ViewReads,
    private readonly historyOf: (cron: string) => CronHistory | null,
  ) {}

  get size(): number {
    return this.#views.size;
  }

  get(cron: string): CronView | undefined {
    return this.#views.get(cron);
  }

  all(): readonly CronView[] {
    return [...this.#views.values()];
  }

  /** Something happened to it. */
  touch(cron: string): void {
    if (this.#views.has(cron)) this.#due.add(cron);
  }

  /** As live pods report them now. */
  set standstills(found: ReadonlyMap<string, Standstill>) {
    const changed = [...this.#standstills.keys(), ...found.keys()];
    this.#standstills = found;
    for (const cron of new Set(changed)) this.rejudge(cron);
  }

  /** Nobody has listened for a while: nothing that was seen is known to hold. */
  forget(): void {
    this.#views.clear();
    this.#sorted.clear();
    this.#entries = [];
  }

  /** Its history was read, or is not known any more. */
  rejudge(cron: string): void {
    const view = this.#views.get(cron);
    if (view && view.seenAt !== null) this.#put(this.#viewOf(view, view.seenAt));
  }

  /** Looks at some of them anew. */
  async refresh({ entries, readAt }: CatalogReading): Promise<void> {
    if (entries !== this.#entries) await inSlices(this.#know(entries));
    const names = [...this.#due].slice(0, LOOKED_AT_MOST);
    for (const name of this.#views.keys()) {
      if (names.length >= LOOKED_AT_MOST) break;
      if (!this.#due.has(name)) names.push(name);
    }
    await this.look(names, readAt);
  }

  /** Looks at these anew, whosever turn it is. */
  async look(crons: readonly string[], now: number): Promise<void> {
    // One call after the other: the answers of all of them at once would hold the event loop.
    for (let from = 0; from < crons.length; from += AT_ONCE) {
      const entries = crons.slice(from, from + AT_ONCE).flatMap((name) => this.#views.get(name)?.entry ?? []);
      const snapshots = await this.#read(entries);
      await mapInSlices(snapshots, (snapshot) => this.#seen(snapshot, now));
    }
  }

  /** All of them in an order. What was sorted before is sorted again only where it changed. */
  async sorted(order: CronOrder): Promise<readonly CronView[]> {
    const known = this.#sorted.get(order.key);
    if (known && known.moved.size === 0) return this.#viewsOf(await known.names);
    const views = known ? this.#resorted(order, known) : order.sorted(this.all());
    const names = views.then((all) => all.map(({ name }) => name));
    this.#sorted.set(order.key, { order, names, moved: new Set() });
    names.catch(() => this.#sorted.delete(order.key));
    return views;
  }

  health({ entry, record, uncertain }: Judged, history: CronHistory | null, now: number): CronHealth {
    const nextDueAt = this.#instants.firstDue(entry, record.cursor);
    const standstill = this.#standstills.get(entry.definition.name) ?? null;
    return healthOf({ entry, record, uncertain, history, nextDueAt, standstill, now });
  }

  async #resorted(order: CronOrder, { names, moved }: Sorted): Promise<readonly CronView[]> {
    const changed = await order.sorted(this.#viewsOf([...moved]));
    const kept = this.#viewsOf(await filterInSlices(await names, (name) => !moved.has(name)));
    return mergeInSlices(kept, changed, (a, b) => order.compare(a, b));
  }

  #viewsOf(names: readonly string[]): CronView[] {
    return names.flatMap((name) => this.#views.get(name) ?? []);
  }

  *#know(entries: readonly CatalogEntry[]): Generator<void, void> {
    const before = new Set(this.#views.keys());
    for (const entry of entries) {
      const { name } = entry.definition;
      before.delete(name);
      const known = this.#views.get(name);
      if (known?.entry !== entry) {
        this.#due.add(name);
        this.#put(known ? { ...known, entry } : this.#unseen(entry));
      }
      yield;
    }
    for (const name of before) this.#drop(name);
    this.#instants.keep(entries);
    this.#entries = entries;
  }

  #drop(name: string): void {
    this.#views.delete(name);
    this.#due.delete(name);
    for (const { moved } of this.#sorted.values()) moved.add(name);
  }

  #unseen(entry: CatalogEntry): CronView {
    const snapshot = { entry, record: UNSEEN, lease: null, uncertain: uncertainOf([]) };
    const { state } = entry;
    const health: CronHealth =
      state === 'active'
        ? { state: 'unknown', since: null, failures: null, text: 'not read yet' }
        : { state, since: entry.since, failures: null, text: state };
    return { ...snapshot, name: entry.definition.name, history: null, health, next: null, seenAt: null };
  }

  /** Most looks find a cron where it was: an order is sorted again only for those that have another place in it. */
  #put(view: CronView, before = this.#views.get(view.name)): void {
    this.#views.set(view.name, view);
    for (const { order, moved } of this.#sorted.values()) {
      if (!before || order.compare(before, view) !== 0) moved.add(view.name);
    }
  }

  #seen(snapshot: CronSnapshot, now: number): void {
    const { name } = snapshot.entry.definition;
    const known = this.#views.get(name);
    // It was changed or deleted while it was asked about.
    if (known?.entry !== snapshot.entry) return;
    this.#due.delete(name);
    this.#views.delete(name);
    this.#put(this.#viewOf(snapshot, now), known);
  }

  #viewOf(snapshot: CronSnapshot, now: number): CronView {
    const { entry, record, lease, uncertain } = snapshot;
    const { name } = entry.definition;
    const history = this.historyOf(name);
    const health = this.health(snapshot, history, now);
    return {
      entry,
      record,
      lease,
      uncertain,
      name,
      history,
      health,
      next: this.#instants.next(entry, now),
      seenAt: now,
    };
  }

  async #read(entries: readonly CatalogEntry[]): Promise<CronSnapshot[]> {
    const names = entries.map(({ definition }) => definition.name);
    const [records, leases, uncertain] = await Promise.all([
      this.reads.ledger.readCrons(names),
      holdersOf(this.reads.leases, names),
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
