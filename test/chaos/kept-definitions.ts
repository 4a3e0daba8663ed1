import { systemClock } from '@fencepost/lease';
import { CronCatalog, CronOperator } from '@fencepost/operations';
import { until } from '../support/until.js';
import type { EpisodeStores } from './episode.js';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { RELEASE } from './programs.js';
import type { RecordedEvent } from './recording.js';

/** Idle crons of `test/pods/crons/plain.ts`, and two that are made at run time: one of them is removed. */
const DECLARED = ['kept-changed', 'kept-paused'];
const MADE = 'kept-made';
const REMOVED = 'kept-removed';
const ALL = [...DECLARED, MADE, REMOVED];

/** As idle as the declared one, and another one. */
const CHANGED = { expression: '0 30 12 29 2 *' };
const BY = { by: 'the oracle', reason: 'to see whether it lasts' };
/** Generous: only workers that never declare them wait for so long. */
const PATIENCE_MS = 90_000;
const MAX_RECORDS = 100;

function isKept(cron: string): boolean {
  return ALL.includes(cron);
}

/** Whether a cron only stands for its definition, or its program: it has no instants to wait for. */
export function isIdle(cron: string): boolean {
  return isKept(cron) || cron === RELEASE;
}

/**
 * Changes, removes, makes and pauses crons as people do, and looks from then on whether all of it is still so: definitions,
 * the pause and the audit records.
 */
export class KeptDefinitions {
  #ordered: ReadonlyMap<string, string> = new Map();
  readonly #lost = new Map<string, string>();

  constructor(private readonly stores: EpisodeStores) {}

  /** A sentence for each definition, pause and list of audit records that was ever seen otherwise than it was ordered. */
  get lost(): readonly string[] {
    return [...this.#lost.values()];
  }

  /** Once pods are up, and before anything is hurt. */
  async order(): Promise<void> {
    const { catalog, trail: audit } = this.stores;
    await until('the workers have declared the idle crons', () => this.#isDeclared(), PATIENCE_MS);
    const crons = new CronCatalog({ catalog, audit, clock: systemClock });
    await crons.set('kept-changed', CHANGED, BY);
    for (const made of [MADE, REMOVED]) await crons.set(made, { ...CHANGED, handler: 'kept-changed' }, BY);
    await crons.remove(REMOVED, BY);
    await new CronOperator({ ...this.stores, clock: systemClock }).pause('kept-paused', BY);
    this.#ordered = await this.#read();
  }

  /** Rejects when a store did not answer: that says nothing about what it has. */
  async look(): Promise<void> {
    if (this.#ordered.size === 0) return;
    const found = await this.#read();
    for (const [what, ordered] of this.#ordered) {
      const now = found.get(what);
      if (now !== ordered) this.#lost.set(what, `The ${what} was ${ordered}, and is ${now ?? 'gone'}`);
    }
  }

  async #isDeclared(): Promise<boolean> {
    const { entries } = await this.stores.catalog.read();
    return DECLARED.every((name) => entries.some(({ definition }) => definition.name === name));
  }

  /** By what it is. A deployment may note another build and move all generations on; what holds since when stays. */
  async #read(): Promise<Map<string, string>> {
    const { catalog, ledger, trail } = this.stores;
    const [{ entries }, { paused }, ...records] = await Promise.all([
      catalog.read(),
      ledger.readCron('kept-paused'),
      ...ALL.map((cron) => trail.list({ limit: MAX_RECORDS, cron })),
    ]);
    const definitions = entries
      .filter(({ definition }) => isKept(definition.name))
      .map(({ definition: { name, expression, handler = null }, state, since }) => {
        return [`definition of ${name}`, JSON.stringify({ state, expression, handler, since })] as const;
      });
    const audited = ALL.map((cron, n) => [`audit records of ${cron}`, JSON.stringify(records[n])] as const);
    return new Map([...definitions, ['pause of kept-paused', JSON.stringify(paused)], ...audited]);
  }
}

/** What a process read in the catalog, and had not read before. Times are microseconds of the recorders' clock. */
export interface Knowledge {
  readonly process: string;
  readonly calledAt: number;
  readonly at: number;
  /** By name. */
  readonly entries: ReadonlyMap<string, CatalogEntry>;
}

interface KnownDetail {
  readonly calledAt: number;
  readonly entries: readonly CatalogEntry[];
}

/** What pods told of their readings; in the order in which these returned. */
export function knowledgeIn(events: readonly RecordedEvent[]): Knowledge[] {
  return events.flatMap(({ event, process, at, detail }) => {
    if (event !== 'catalog.known') return [];
    const { calledAt, entries } = detail as unknown as KnownDetail;
    return [{ process, calledAt, at, entries: byName(entries) }];
  });
}

export function byName(entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry> {
  return new Map(entries.map((entry) => [entry.definition.name, entry]));
}
