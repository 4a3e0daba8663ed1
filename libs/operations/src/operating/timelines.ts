import type { Catalog } from '@fencepost/ledger/catalog';
import { OperatorInputError, type OccurrenceLog, type RunHistory } from '@fencepost/ledger';
import { checkedInstant, generationsOf, knownCron, type KnownCron } from '@fencepost/jobs/internal';
import { inSlices } from './slices.js';
import { bucketsOf, type BucketSpan } from './timeline-buckets.js';
import type { Timeline, TimelinePart } from './timeline-run.js';
import { timelineOf, type TimelineSpan } from './timeline.js';

export interface TimelinesPorts {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Pick<RunHistory, 'account' | 'tally'> & Pick<OccurrenceLog, 'readCron'>;
}

export interface TimelineQuery {
  /** The first nominal instant, epoch milliseconds; by default a day ago. */
  readonly from?: number;
  /** The first one that does not count, at most 92 days after `from`; by default a day after it, and at least a day ahead. */
  readonly to?: number;
  /** At most so many items, 1 to 10,000; default 1,000. */
  readonly limit?: number;
  /**
   * Counts the instants of each so many milliseconds instead of listing them, at least a second: an item then stands for those
   * of one bucket with the same outcome. However many runs there are, they are counted in the store. Late is what began later
   * than the grace of today's definition.
   */
  readonly bucketMs?: number;
}

const DAY_MS = 86_400_000;
const MAX_ITEMS = 10_000;
const MAX_DAYS = 92;
/** For one answer: a day of a cron of each second, and some more. */
const MAX_RUNS_COUNTED = 88_000;

/** What became of the instants of a cron, from the stores alone. */
export class Timelines {
  constructor(private readonly ports: TimelinesPorts) {}

  /**
   * @throws {UnknownCronError} with names that are like it
   * @throws {OperatorInputError} for a query that can't be
   */
  async of(cron: string, query: TimelineQuery = {}): Promise<Timeline> {
    // Before anything is read: what is refused costs nothing then.
    if (query.from !== undefined && query.to !== undefined) checkedSpan(query, query.from);
    const { entry, now } = await knownCron(this.ports.catalog, cron);
    const span = checkedSpan(query, now);
    const { part, forgotten } = await (query.bucketMs === undefined
      ? this.#listed(cron, span, { entry, now })
      : this.#counted(cron, { ...span, bucketMs: checkedBucket(span, query.bucketMs) }, { entry, now }));
    const since = forgotten !== null && forgotten >= span.from ? forgotten : null;
    return { cron, from: span.from, to: span.to, now, ...part, forgotten: since };
  }

  async #listed(cron: string, span: TimelineSpan, { entry, now }: KnownCron): Promise<Found> {
    const { ledger } = this.ports;
    const [account, { cursor }] = await Promise.all([
      // Each run is an item of its own: more of them than items can't be shown.
      ledger.account(cron, span.from, span.to, span.limit),
      ledger.readCron(cron),
    ]);
    const facts = { generations: generationsOf(entry), account, cursor, now };
    const { items, more } = await inSlices(timelineOf(facts, { ...span, to: account.more ?? span.to }));
    return { part: { items, more: more ?? account.more ?? null }, forgotten: account.forgotten };
  }

  async #counted(cron: string, span: BucketSpan, { entry, now }: KnownCron): Promise<Found> {
    const { ledger } = this.ports;
    const { from, to, bucketMs } = span;
    const { graceMs } = entry.definition;
    const [tally, { cursor }] = await Promise.all([
      ledger.tally(cron, { from, to, bucketMs, graceMs, most: MAX_RUNS_COUNTED }),
      ledger.readCron(cron),
    ]);
    const part = await inSlices(bucketsOf({ generations: generationsOf(entry), tally, cursor, now }, span));
    return { part, forgotten: tally.forgotten };
  }
}

interface Found {
  readonly part: TimelinePart;
  readonly forgotten: number | null;
}

function checkedBucket({ from, to, limit }: TimelineSpan, bucketMs: number): number {
  if (!Number.isSafeInteger(bucketMs) || bucketMs < 1_000) {
    throw OperatorInputError.of('bucketMs', 'a whole number from 1000', bucketMs);
  }
  const buckets = Math.ceil((to - from) / bucketMs);
  if (buckets <= limit) return bucketMs;
  throw new OperatorInputError(
    `Expected at most ${limit} buckets between "from" and "to", got ${buckets}. Request longer buckets, a shorter range or a larger limit.`,
  );
}

function checkedSpan({ from: asked, to: end, limit = 1_000 }: TimelineQuery, now: number) {
  const from = Math.max(0, checkedInstant('from', asked ?? Math.min(now, end ?? now) - DAY_MS));
  const to = checkedInstant('to', end ?? Math.max(from, now) + DAY_MS);
  if (from >= to) throw OperatorInputError.of('from', `before "to" (${new Date(to).toISOString()})`, new Date(from));
  if (to - from > MAX_DAYS * DAY_MS) throw tooLong(from, to);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ITEMS) {
    throw OperatorInputError.of('limit', `a whole number from 1 to ${MAX_ITEMS}`, limit);
  }
  return { from, to, limit };
}

function tooLong(from: number, to: number): OperatorInputError {
  const days = Math.ceil((to - from) / DAY_MS);
  const [start, end] = [from, from + MAX_DAYS * DAY_MS].map((at) => new Date(at).toISOString());
  return new OperatorInputError(
    `Expected "from" and "to" at most ${MAX_DAYS} days apart, got ${days}. Request a shorter range, such as from=${start}&to=${end}, then the next.`,
  );
}
