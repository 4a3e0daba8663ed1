import { nearNames } from '@fencepost/lease/internal/options';
import type { Catalog, CatalogReading, CatalogEntry, Generation } from '@fencepost/ledger/catalog';
import type { Clock } from '@fencepost/lease';
import { isManual } from '@fencepost/schedule';
import { OperatorInputError } from '@fencepost/ledger';
import { UnknownCronError } from './errors.js';

export interface KnownCron {
  readonly entry: CatalogEntry;
  /** The store's clock at the reading. */
  readonly now: number;
}

/** @throws {UnknownCronError} with names that are like it */
export async function knownCron(catalog: Pick<Catalog, 'read'>, cron: string): Promise<KnownCron> {
  const reading = await catalog.read();
  return { entry: entryOf(reading, cron), now: reading.readAt };
}

/**
 * A cron whose runs a worker executes: one that is only disabled may be triggered.
 * @throws {UnknownCronError}
 */
export async function runnableCron(catalog: Pick<Catalog, 'read'>, cron: string): Promise<KnownCron> {
  const known = await knownCron(catalog, cron);
  if (known.entry.state === 'removed') throw UnknownCronError.removed(cron, known.entry.by);
  return known;
}

function entryOf({ entries, unreadable = [] }: CatalogReading, cron: string): CatalogEntry {
  const entry = entries.find(({ definition }) => definition.name === cron);
  if (entry) return entry;
  const broken = unreadable.find(({ name }) => name === cron);
  if (broken) throw UnknownCronError.unreadable(cron, broken.reason);
  throw UnknownCronError.of(
    cron,
    nearNames(
      cron,
      entries.map(({ definition }) => definition.name),
    ),
  );
}

/** Oldest first, the newest included. */
export function generationsOf(entry: CatalogEntry): Generation[] {
  return [...entry.past, entry];
}

/** The generation in force: the newest may be accepted and not effective yet. */
export function effectiveGeneration(entry: CatalogEntry, now: number): Generation {
  return generationsOf(entry).findLast(({ since }) => since <= now) ?? entry;
}

export interface KnownJob {
  readonly entry: CatalogEntry;
  /** The generation in force. */
  readonly generation: Generation;
  /** The store's clock, epoch milliseconds. */
  readonly now: number;
}

/** A new job is found at once: a job that is not in the reading makes the catalog be read again. */
const FRESH_MS = 5_000;

interface Reading {
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  readonly readAt: number;
  /** Monotonic, before the catalog was asked. */
  readonly askedAt: number;
}

/** The jobs of the catalog, read once for all that is enqueued within some seconds. */
export class KnownJobs {
  #reading: Reading | null = null;

  constructor(private readonly ports: { readonly catalog: Pick<Catalog, 'read'>; readonly clock: Clock }) {}

  /**
   * @throws {UnknownCronError} with names that are like it, or when it was removed
   * @throws {OperatorInputError} for a cron with a schedule
   */
  async find(job: string): Promise<KnownJob> {
    const known = this.#kept(FRESH_MS, job) ?? (await this.#read(job));
    if (isManual(known.entry.definition.expression)) return known;
    throw new OperatorInputError(
      `${JSON.stringify(job)} is a cron, not a job (@JobHandler): it has a ` +
        `schedule. Run it with CronOperator.trigger.`,
    );
  }

  async #read(job: string): Promise<KnownJob> {
    const askedAt = this.ports.clock.monotonic();
    const asked: { reading?: CatalogReading } = {};
    const read = async () => (asked.reading = await this.ports.catalog.read());
    try {
      const { entry, now } = await runnableCron({ read }, job);
      return { entry, now, generation: effectiveGeneration(entry, now) };
    } catch (error) {
      // A catalog that is away for a moment is no reason to refuse a job that was there a moment ago.
      const kept = asked.reading ? null : this.#kept(Infinity, job);
      if (kept) return kept;
      throw error;
    } finally {
      if (asked.reading) this.#keep(asked.reading, askedAt);
    }
  }

  #keep({ entries, readAt }: CatalogReading, askedAt: number): void {
    if (this.#reading && this.#reading.askedAt > askedAt) return;
    this.#reading = { entries: new Map(entries.map((entry) => [entry.definition.name, entry])), readAt, askedAt };
  }

  #kept(maxMs: number, job: string): KnownJob | null {
    const { entries, readAt = 0, askedAt = 0 } = this.#reading ?? {};
    const age = this.ports.clock.monotonic() - askedAt;
    const entry = entries?.get(job);
    if (!entry || entry.state === 'removed' || age > maxMs) return null;
    const now = readAt + age;
    return { entry, now, generation: effectiveGeneration(entry, now) };
  }
}
