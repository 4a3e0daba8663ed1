import { OperatorInputError } from '@fencepost/ledger';
import { HEALTH_STATES, type CronHealth } from '../operating/health-of.js';
import type { CronHistory } from '../operating/cron-history.js';
import { mapInSlices, sortInSlices } from '../operating/slices.js';

export const CRON_SORTS = ['attention', 'name', 'next', 'duration', 'delay'] as const;

export interface CronSorting {
  /** `attention`, the default: the worst first. */
  readonly sort?: (typeof CRON_SORTS)[number] | undefined;
  /** By default what somebody wants to see first: the worst, the soonest, the slowest. */
  readonly order?: 'asc' | 'desc' | undefined;
}

/** What crons are sorted by. */
export interface Sortable {
  readonly name: string;
  readonly health: CronHealth;
  readonly history: CronHistory | null;
  readonly next: number | null;
}

type Value = number | string;
/** The place of a cron in a list; crons without a value are last in either direction. */
type Place = readonly [values: readonly Value[] | null, name: string];

const VALUES: Readonly<Record<(typeof CRON_SORTS)[number], (cron: Sortable) => readonly Value[] | null>> = {
  attention: ({ health: { state, failures, since } }) => [
    ...[HEALTH_STATES.indexOf(state), -(failures ?? 0)],
    since ?? Number.MAX_SAFE_INTEGER,
  ],
  name: ({ name }) => [name],
  next: ({ next }) => (next === null ? null : [next]),
  duration: ({ history }) => (history?.duration ? [history.duration.p95Ms] : null),
  delay: ({ history }) => (typeof history?.startDelayP95Ms === 'number' ? [history.startDelayP95Ms] : null),
};

/** Sorts crons, and cuts pages out of them that fit together though the crons change between two. */
export class CronOrder {
  readonly #key: string;
  readonly #sign: 1 | -1;
  readonly #values: (cron: Sortable) => readonly Value[] | null;

  constructor({ sort = 'attention', order }: CronSorting) {
    const direction = order ?? (sort === 'duration' || sort === 'delay' ? 'desc' : 'asc');
    this.#key = `${sort} ${direction}`;
    this.#sign = direction === 'asc' ? 1 : -1;
    this.#values = VALUES[sort];
  }

  /** The same for two that sort alike. */
  get key(): string {
    return this.#key;
  }

  async sorted<Cron extends Sortable>(crons: readonly Cron[]): Promise<Cron[]> {
    const placed = await mapInSlices(crons, (cron) => ({ cron, place: this.#placeOf(cron) }));
    return (await sortInSlices(placed, (a, b) => this.#compare(a.place, b.place))).map(({ cron }) => cron);
  }

  compare(a: Sortable, b: Sortable): number {
    return this.#compare(this.#placeOf(a), this.#placeOf(b));
  }

  /** A page of crons in this order, and where the next one begins. */
  page<Cron extends Sortable>(sorted: readonly Cron[], limit: number, cursor: string | undefined) {
    const after = cursor === undefined ? null : this.#read(cursor);
    const from = after ? this.#firstAfter(sorted, after) : 0;
    const shown = sorted.slice(from, from + limit);
    const last = shown.at(-1);
    return { shown, next: last && from + limit < sorted.length ? this.#write(this.#placeOf(last)) : null };
  }

  #firstAfter(sorted: readonly Sortable[], place: Place): number {
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const cron = sorted[middle];
      if (cron && this.#compare(this.#placeOf(cron), place) > 0) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  #placeOf(cron: Sortable): Place {
    return [this.#values(cron), cron.name];
  }

  #compare([a, aName]: Place, [b, bName]: Place): number {
    if (a === null || b === null) return Number(a === null) - Number(b === null) || compare(aName, bName);
    for (const [index, value] of a.entries()) {
      const found = compare(value, b[index] ?? value);
      if (found !== 0) return found * this.#sign;
    }
    return compare(aName, bName);
  }

  #write(place: Place): string {
    return Buffer.from(JSON.stringify([this.#key, ...place])).toString('base64url');
  }

  #read(cursor: string): Place {
    try {
      const [key, values, name] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, ...Place];
      if (key === this.#key && (values === null || Array.isArray(values)) && typeof name === 'string')
        return [values, name];
    } catch {
      // Said below.
    }
    throw OperatorInputError.of('cursor', '"next" of the page before, of the same sort and order', cursor);
  }
}

function compare(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
