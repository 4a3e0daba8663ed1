import { knownCron } from '@fencepost/jobs/internal';
import { ownerPrefix } from '@fencepost/lease/internal';
import type { RunHistory } from '@fencepost/ledger';
import type { Catalog, CatalogEntry } from '@fencepost/ledger/catalog';
import type { Run, RunState } from '@fencepost/ledger/run';
import { grouped } from './grouped.js';
import { fingerprintOf } from './run-fingerprint.js';
import { byLatest, comparePlaces, placeOf } from './run-order.js';

export interface RunQuery {
  /** Any of these; none: any state. */
  readonly states?: readonly RunState[];
  readonly cron?: string | undefined;
  readonly tag?: string | undefined;
  /** Instants in `[from, to)`, epoch milliseconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** From the beginning of the first attempt to the end, or to now. */
  readonly minDurationMs?: number | undefined;
  readonly minAttempts?: number | undefined;
  /** Part of the error; case is ignored. */
  readonly error?: string | undefined;
  readonly fingerprint?: string | undefined;
  /** Part of the name of the worker; case is ignored. */
  readonly worker?: string | undefined;
}

export interface RunPageQuery extends RunQuery {
  readonly limit: number;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

export interface FoundRuns {
  readonly runs: readonly Run[];
  /** Whether all runs on record were looked at that the query may mean; `false`: only the newest of each cron. */
  readonly complete: boolean;
}

interface Looked extends FoundRuns {
  /** Of these crons only the newest were looked at; `null`: of any. */
  readonly cut: ReadonlySet<string> | null;
}

export interface FoundPage extends FoundRuns {
  readonly next: string | null;
}

/** Runs that failed in the same way. */
export interface FailureGroup {
  readonly fingerprint: string;
  /** The newest of the messages. */
  readonly error: string;
  readonly count: number;
  /** `false`: there may be more, older ones, so the first of all may have been earlier than `firstAt`. */
  readonly complete: boolean;
  readonly crons: readonly string[];
  readonly firstAt: number;
  readonly lastAt: number;
  /** The newest {@link MAX_IDS}. */
  readonly runIds: readonly string[];
}

export interface RunSearchPorts {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Pick<RunHistory, 'newestRuns' | 'runsIn'>;
}

/** So many runs are read for one answer at most, over all crons, and of one cron no more than a page of the API has. */
const MAX_RUNS = 5_000;
const MAX_OF_CRON = 1_000;
/** However many crons there are, a few runs of each. */
const MIN_OF_CRON = 3;
const CRONS_AT_ONCE = 500;
/** Beyond these, crons are left out of an answer that has to read the runs of each. */
const MAX_CRONS = 1_000;
const MAX_IDS = 100;

/** Finds runs over all crons. It reads a bounded number of the newest runs of each, and says when that was not all. */
export class RunSearch {
  constructor(private readonly ports: RunSearchPorts) {}

  /**
   * The runs that fit, those that changed last first.
   * @throws {UnknownCronError} with names that are like it
   */
  async page({ limit, cursor, ...query }: RunPageQuery): Promise<FoundPage> {
    const { runs, complete } = await this.#found(query, limit);
    const left = cursor === undefined ? runs : runs.filter((run) => isAfter(run, cursor));
    const shown = left.slice(0, limit);
    const last = shown.at(-1);
    return { runs: shown, complete, next: last && left.length > limit ? cursorOf(last) : null };
  }

  /** Failed runs by what they failed with, the most frequent failure first. */
  async failures(query: Omit<RunQuery, 'states'>): Promise<{ groups: FailureGroup[]; complete: boolean }> {
    const { runs, complete, cut } = await this.#found({ ...query, states: ['failed'] }, 0);
    const groups = new Map<string, Run[]>();
    for (const run of runs) {
      const key = fingerprintOf(run.error ?? '');
      groups.set(key, [...(groups.get(key) ?? []), run]);
    }
    const items = [...groups].map(([fingerprint, alike]) => groupOf(fingerprint, alike, cut));
    return { groups: items.toSorted((a, b) => b.count - a.count || b.lastAt - a.lastAt), complete };
  }

  /** How many failed runs of these crons are on record, counted up to `max`. */
  async countFailed(crons: readonly string[], max: number): Promise<{ count: number; complete: boolean }> {
    const bounds = { maxRuns: max, maxOfCron: max };
    const { runs, cut } = await keptRuns(this.ports.ledger, { state: 'failed', crons }, bounds);
    return { count: Math.min(runs.length, max), complete: cut.size === 0 && runs.length <= max };
  }

  /** @param limit so many are wanted of each cron at least */
  async #found(query: RunQuery, limit: number): Promise<Looked> {
    const { names, now } = await this.#crons(query);
    const { runs, ...looked } = isKept(query)
      ? await this.#kept(names, query, limit)
      : await this.#newest(names, query);
    return { ...looked, runs: runs.filter((run) => fits(run, query, now)).toSorted(byLatest) };
  }

  async #crons({ cron, tag }: RunQuery): Promise<{ names: string[]; now: number }> {
    const { catalog } = this.ports;
    if (cron !== undefined) {
      const { entry, now } = await knownCron(catalog, cron);
      return { names: isTagged(entry, tag) ? [cron] : [], now };
    }
    const { entries, readAt } = await catalog.read();
    return { names: entries.filter((entry) => isTagged(entry, tag)).map(nameOf), now: readAt };
  }

  /** The ledger keeps lists of the failed and the uncertain runs: all of them, or the newest. */
  async #kept(crons: readonly string[], { states = [] }: RunQuery, limit: number): Promise<Looked> {
    const bounds = { maxRuns: MAX_RUNS, maxOfCron: MAX_OF_CRON, minOfCron: Math.max(limit, MIN_OF_CRON) };
    const found: KeptRuns[] = [];
    for (const state of states) {
      if (state !== 'failed' && state !== 'uncertain') continue;
      found.push(await keptRuns(this.ports.ledger, { state, crons }, bounds));
    }
    const cut = new Set(found.flatMap((one) => [...one.cut]));
    return { runs: found.flatMap(({ runs }) => runs), complete: cut.size === 0, cut };
  }

  async #newest(names: readonly string[], { from, to }: RunQuery): Promise<Looked> {
    const looked = names.slice(0, MAX_CRONS);
    const perCron = boundOf(looked.length);
    const range = from === undefined ? {} : { from, ...(to !== undefined && { to }) };
    const found: Run[][] = [];
    for (const some of partsOf(looked)) found.push(...(await this.ports.ledger.newestRuns(some, perCron, range)));
    const complete = looked.length === names.length && found.every((runs) => runs.length < perCron);
    return { runs: found.flat(), complete, cut: null };
  }
}

export interface KeptBounds {
  /** Read of all crons together, about. */
  readonly maxRuns: number;
  /** Read of one cron. */
  readonly maxOfCron: number;
  /** Wanted of each cron at least. */
  readonly minOfCron?: number;
}

export interface KeptRuns {
  readonly runs: readonly Run[];
  /** Crons that may have more of them, older ones, than were read. */
  readonly cut: ReadonlySet<string>;
}

/**
 * Runs in a state of which the ledger keeps lists: all of them, or the newest of each cron. Few crons have many, so what the others
 * leave of the bound is read of those.
 */
export async function keptRuns(
  ledger: Pick<RunHistory, 'runsIn'>,
  { state, crons }: { readonly state: 'failed' | 'uncertain'; readonly crons: readonly string[] },
  { maxRuns, maxOfCron, minOfCron = MIN_OF_CRON }: KeptBounds,
): Promise<KeptRuns> {
  const found = new Map<string, readonly Run[]>();
  let [cut, perCron] = [crons, Math.max(minOfCron, share(maxRuns, crons.length))];
  for (;;) {
    const wanted = Math.max(minOfCron, Math.min(maxOfCron, perCron));
    for (const some of partsOf(cut)) {
      const read = grouped(await ledger.runsIn(state, some, wanted), ({ cron }) => cron);
      for (const [name, runs] of read) found.set(name, runs);
    }
    cut = cut.filter((cron) => (found.get(cron)?.length ?? 0) >= wanted);
    const isCut = new Set(cut);
    const taken = [...found].reduce((sum, [cron, runs]) => sum + (isCut.has(cron) ? 0 : runs.length), 0);
    perCron = share(maxRuns - taken, cut.length);
    // Twice as many, or the few more are not worth the questions.
    const isWorthIt = Math.min(maxOfCron, perCron) >= 2 * wanted;
    if (cut.length === 0 || !isWorthIt) return { runs: [...found.values()].flat(), cut: isCut };
  }
}

function share(runs: number, crons: number): number {
  return Math.floor(runs / Math.max(1, crons));
}

function* partsOf(crons: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < crons.length; at += CRONS_AT_ONCE) yield crons.slice(at, at + CRONS_AT_ONCE);
}

function boundOf(crons: number): number {
  return Math.min(MAX_OF_CRON, Math.max(MIN_OF_CRON, Math.floor(MAX_RUNS / Math.max(1, crons))));
}

function isKept({ states = [] }: RunQuery): boolean {
  return states.length > 0 && states.every((state) => state === 'failed' || state === 'uncertain');
}

function nameOf({ definition }: CatalogEntry): string {
  return definition.name;
}

function isTagged({ definition }: CatalogEntry, tag: string | undefined): boolean {
  const { tags = [] } = definition as { readonly tags?: readonly string[] };
  return tag === undefined || tags.includes(tag);
}

function fits(run: Run, query: RunQuery, now: number): boolean {
  const { states = [], from = -Infinity, to = Infinity, minAttempts = 0, error, fingerprint, worker } = query;
  return (
    (states.length === 0 || states.includes(run.state)) &&
    run.scheduledAt >= from &&
    run.scheduledAt < to &&
    run.attempt >= minAttempts &&
    lasted(run, now) >= (query.minDurationMs ?? -Infinity) &&
    hasPart(run.error, error) &&
    (fingerprint === undefined || (run.error !== null && fingerprintOf(run.error) === fingerprint)) &&
    hasPart(run.worker && ownerPrefix(run.worker), worker)
  );
}

function lasted({ startedAt, finishedAt }: Run, now: number): number {
  return startedAt === null ? -Infinity : (finishedAt ?? now) - startedAt;
}

function hasPart(text: string | null, part: string | undefined): boolean {
  return part === undefined || (text !== null && text.toLowerCase().includes(part.trim().toLowerCase()));
}

function groupOf(fingerprint: string, runs: readonly Run[], cut: Looked['cut']): FailureGroup {
  const times = runs.map((run) => placeOf(run).at);
  const crons = [...new Set(runs.map(({ cron }) => cron))].toSorted();
  return {
    ...{ fingerprint, error: runs[0]?.error ?? '', count: runs.length, crons },
    complete: cut !== null && !crons.some((cron) => cut.has(cron)),
    ...{ firstAt: Math.min(...times), lastAt: Math.max(...times) },
    runIds: runs.slice(0, MAX_IDS).map(({ id }) => id),
  };
}

/** Opaque to whoever asks. */
function cursorOf(run: Run): string {
  const { at, id } = placeOf(run);
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

/** Whether it comes later in the list than the last run of the page before; a cursor that can't be is before all. */
function isAfter(run: Run, cursor: string): boolean {
  const [at, id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  return comparePlaces({ at: Number(at) || Infinity, id }, placeOf(run)) < 0;
}
