import { nearNames } from '@fencepost/lease/internal/options';
import { changePages, type Catalog, type CatalogEntry, type Generation } from '@fencepost/ledger/catalog';
import type { Clock } from '@fencepost/lease';
import { isManual } from '@fencepost/schedule';
import { OperatorInputError } from '@fencepost/ledger';
import { UnknownCronError } from './errors.js';

export interface KnownCron {
  readonly entry: CatalogEntry;
  /** The store's clock at the reading. */
  readonly now: number;
}

/** A catalog that has all of its crons at hand needs no pages. */
type KnownCrons = Pick<Catalog, 'read'> & Partial<Pick<Catalog, 'since'>>;

/** @throws {UnknownCronError} with names that are like it */
export async function knownCron(catalog: KnownCrons, cron: string): Promise<KnownCron> {
  const { entries, unreadable = [], readAt } = await catalog.read([cron]);
  const entry = entries.find(({ definition }) => definition.name === cron);
  if (entry) return { entry, now: readAt };
  const broken = unreadable.find(({ name }) => name === cron);
  if (broken) throw UnknownCronError.unreadable(cron, broken.reason);
  throw UnknownCronError.of(cron, await namesLike(catalog, cron));
}

/**
 * A cron whose runs a worker executes: one that is only disabled may be triggered.
 * @throws {UnknownCronError}
 */
export async function runnableCron(catalog: KnownCrons, cron: string): Promise<KnownCron> {
  const known = await knownCron(catalog, cron);
  if (known.entry.state === 'removed') throw UnknownCronError.removed(cron, known.entry.by);
  return known;
}

/** A mistyped name must not cost more in a large catalog: these many crons are compared, whichever come first. */
const MAX_COMPARED = 1_000;

async function namesLike(catalog: KnownCrons, cron: string): Promise<string[]> {
  const names: string[] = [];
  for await (const entries of pagesOf(catalog)) {
    names.push(...entries.map(({ definition }) => definition.name));
    if (names.length >= MAX_COMPARED) break;
  }
  return nearNames(cron, names);
}

async function* pagesOf(catalog: KnownCrons): AsyncIterable<readonly CatalogEntry[]> {
  if (!hasPages(catalog)) return yield (await catalog.read()).entries;
  for await (const page of changePages(catalog, null)) yield page?.entries ?? [];
}

function hasPages(catalog: KnownCrons): catalog is Pick<Catalog, 'read' | 'since'> {
  return catalog.since !== undefined;
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

/** A job is read again when it was read so long ago. */
const FRESH_MS = 5_000;

interface Reading {
  readonly entry: CatalogEntry;
  readonly readAt: number;
  /** Monotonic, before the catalog was asked. */
  readonly askedAt: number;
}

/** The jobs that this process enqueues, each read once for all that is enqueued within some seconds. */
export class KnownJobs {
  readonly #readings = new Map<string, Reading>();

  constructor(private readonly ports: { readonly catalog: KnownCrons; readonly clock: Clock }) {}

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
    try {
      const { entry, now } = await runnableCron(this.ports.catalog, job);
      if ((this.#readings.get(job)?.askedAt ?? -Infinity) < askedAt)
        this.#readings.set(job, { entry, readAt: now, askedAt });
      return { entry, now, generation: effectiveGeneration(entry, now) };
    } catch (error) {
      if (error instanceof UnknownCronError) this.#readings.delete(job);
      // A catalog that is away for a moment is no reason to refuse a job that was there a moment ago.
      const kept = this.#kept(Infinity, job);
      if (kept) return kept;
      throw error;
    }
  }

  #kept(maxMs: number, job: string): KnownJob | null {
    const reading = this.#readings.get(job);
    const age = reading ? this.ports.clock.monotonic() - reading.askedAt : Infinity;
    if (!reading || age > maxMs) return null;
    const { entry, readAt } = reading;
    const now = readAt + age;
    return { entry, now, generation: effectiveGeneration(entry, now) };
  }
}
