import type { Clock } from '@fencepost/lease';
import {
  ZoneDataWatch,
  type Catalog,
  type CatalogEntry,
  type CatalogReading,
  type UnreadableRecord,
} from '@fencepost/ledger/catalog';
import type { CronRecord, OccurrenceLog } from '@fencepost/ledger';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { HeartbeatReply } from '../membership/membership.js';
import { hashOf } from './rendezvous.js';
import { reportProgramError, reportStoreFailure } from '../telemetry/report-failure.js';

export interface CatalogCacheDeps {
  readonly catalog: Catalog;
  readonly ledger: OccurrenceLog;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Shared: the store's clock when the catalog was last confirmed. */
  readonly freshness: { knownAt: number; bornAt?: number | null };
  readonly listener: CatalogListener;
}

export interface CatalogListener {
  /** @param changed entries that are new or different, @param gone crons that are no longer in the catalog */
  catalogChanged(changed: readonly CatalogEntry[], gone: readonly string[]): void;
}

/** Names in one event. */
const MAX_NAMED = 20;

export interface Entered {
  readonly entry: CatalogEntry;
  readonly hash: number;
}

/** A cached copy of the catalog, its version, and how fresh it is. */
export class CatalogCache {
  readonly #entered = new Map<string, Entered>();
  readonly #zones = new ZoneDataWatch();
  /** Records that cannot be read, with the reason that was reported. */
  #unreadable: ReadonlyMap<string, string> = new Map();
  #version: number | null = null;
  /** When the request of the latest accepted reply was sent: replies may overtake each other. Monotonic. */
  #sentAt = -Infinity;
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #halted = false;

  constructor(private readonly deps: CatalogCacheDeps) {}

  get(cron: string): Entered | undefined {
    return this.#entered.get(cron);
  }

  get size(): number {
    return this.#entered.size;
  }

  entries(): Iterable<Entered> {
    return this.#entered.values();
  }

  /** Another one whenever `entries` has changed; `null` before the first read. */
  get version(): number | null {
    return this.#version;
  }

  /** Whether the catalog has the version of this cache, according to the heartbeat. */
  isCurrent(reply: HeartbeatReply): boolean {
    return reply.catalogVersion !== null && reply.catalogVersion === this.#version;
  }

  /** Reads the catalog again if the heartbeat shows another version. */
  applyHeartbeat(reply: HeartbeatReply, sentAt: number): void {
    if (this.isCurrent(reply)) this.#know(reply.catalogNow ?? reply.now, sentAt);
    else if (reply.catalogVersion !== null) void this.refresh();
  }

  /** Reads the catalog, one reading at a time; calls during a reading share the next one. */
  refresh(): Promise<void> {
    this.#next ??= this.#reading.then(() => {
      this.#next = null;
      this.#reading = this.#read();
      return this.#reading;
    });
    return this.#next;
  }

  /** Gets a newer definition for a cron whose generation the ledger refused as outdated. */
  async catchUp(entry: CatalogEntry): Promise<void> {
    const { name } = entry.definition;
    const { ledger, catalog, telemetry } = this.deps;
    try {
      const record = await ledger.readCron(name);
      const accepted = isOfAnother(entry, record) ? entry.generation + 1 : record.generation;
      if (accepted <= entry.generation || this.#halted) return;
      await catalog.outgrow(name, accepted);
      await this.refresh();
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'generation.raise', cron: name }, error);
    }
  }

  /** Applies no further reading; resolves when the one in progress has ended. */
  async stop(): Promise<void> {
    this.#halted = true;
    await this.#next;
    await this.#reading;
  }

  async #read(): Promise<void> {
    if (this.#halted) return;
    const sentAt = this.deps.clock.monotonic();
    let reading: CatalogReading;
    try {
      reading = await this.deps.catalog.read();
    } catch (error) {
      return reportStoreFailure(this.deps.telemetry, { operation: 'catalog.read' }, error);
    }
    try {
      this.#apply(reading, sentAt);
    } catch (error) {
      reportProgramError(this.deps.telemetry, { operation: 'catalog.apply' }, error);
    }
  }

  #apply(reading: CatalogReading, sentAt: number): void {
    if (this.#halted) return;
    const { version, readAt, bornAt = null, entries } = reading;
    this.#report(reading.unreadable ?? []);
    const names = new Set(entries.map(({ definition }) => definition.name));
    const gone = [...this.#entered.keys()].filter((name) => !names.has(name));
    const changed = entries.filter((entry) => !isSame(this.#entered.get(entry.definition.name)?.entry, entry));
    this.#reportLoss(gone, bornAt);
    for (const name of gone) this.#entered.delete(name);
    for (const entry of changed) {
      const { name } = entry.definition;
      this.#entered.set(name, { entry, hash: this.#entered.get(name)?.hash ?? hashOf(name) });
    }
    this.#version = version;
    this.deps.freshness.bornAt = bornAt;
    this.#know(readAt, sentAt);
    if (gone.length + changed.length === 0) return;
    const { telemetry } = this.deps;
    telemetry.emit('catalog.read', { crons: entries.length });
    for (const foreign of this.#zones.look(changed)) telemetry.emit('catalog.zone-data', foreign);
    this.deps.listener.catalogChanged(changed, gone);
  }

  /** A catalog keeps its creation time: another one, or none, means that the store was lost. */
  #reportLoss(gone: readonly string[], bornAt: number | null): void {
    const known = this.deps.freshness.bornAt ?? null;
    if (known === null || known === bornAt) return;
    const crons = gone.filter((name) => this.#entered.get(name)?.entry.state !== 'removed').toSorted();
    this.deps.telemetry.emit('catalog.lost', { crons: crons.slice(0, MAX_NAMED), count: crons.length });
  }

  /** Once per record and reason, not at each reading. */
  #report(unreadable: readonly UnreadableRecord[]): void {
    for (const { name, reason } of unreadable) {
      if (this.#unreadable.get(name) === reason) continue;
      this.deps.telemetry.emit('catalog.unreadable', { cron: name, err: new Error(reason) });
    }
    this.#unreadable = new Map(unreadable.map(({ name, reason }) => [name, reason]));
  }

  #know(now: number, sentAt: number): void {
    if (sentAt < this.#sentAt) return;
    this.#sentAt = sentAt;
    this.deps.freshness.knownAt = now;
  }
}

/**
 * Whether the generation that the ledger has accepted was issued by a catalog that has been lost since. The present catalog
 * has reached the same number, but its own generation of that number begins after the cursor of the ledger. Without a higher
 * number, the earlier generations would be refused for ever.
 */
function isOfAnother({ past, generation, since }: CatalogEntry, { generation: accepted, cursor }: CronRecord): boolean {
  const later = [...past.slice(1), ...(past.length === 0 ? [] : [{ generation, since }])];
  const own = later.find((one) => one.generation === accepted);
  return own !== undefined && cursor !== null && cursor < own.since;
}

/** A catalog that was lost starts counting again, so the number alone is not enough. */
function isSame(known: CatalogEntry | undefined, read: CatalogEntry): boolean {
  return known !== undefined && known.generation === read.generation && known.since === read.since;
}
