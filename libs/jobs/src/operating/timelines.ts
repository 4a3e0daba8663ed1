import type { Catalog } from '../catalog/catalog.js';
import type { Ledger } from '../ledger/ledger.js';
import { generationsOf, knownCron } from './known-cron.js';
import { checkedInstant, wrong } from './order.js';
import type { Timeline } from './timeline-item.js';
import { timelineOf } from './timeline.js';

export interface TimelinesPorts {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Pick<Ledger, 'account' | 'readCron'>;
}

export interface TimelineQuery {
  /** The first nominal instant, epoch milliseconds; by default a day ago. */
  readonly from?: number;
  /** The first one that does not count; by default a day after `from`, and at least a day ahead. */
  readonly to?: number;
  /** At most so many items, 1 to 10,000; default 1,000. */
  readonly limit?: number;
}

const DAY_MS = 86_400_000;
const MOST_ITEMS = 10_000;

/** What became of the instants of a cron, from the stores alone. */
export class Timelines {
  constructor(private readonly ports: TimelinesPorts) {}

  /**
   * @throws {UnknownCronError} with names that are like it
   * @throws {OperatorInputError} for a query that can't be
   */
  async of(cron: string, query: TimelineQuery = {}): Promise<Timeline> {
    const { entry, now } = await knownCron(this.ports.catalog, cron);
    const span = checkedSpan(query, now);
    const [account, record] = await Promise.all([
      this.ports.ledger.account(cron, span.from, span.to),
      this.ports.ledger.readCron(cron),
    ]);
    const facts = { generations: generationsOf(entry), account, cursor: record.cursor, now };
    const forgotten = account.forgotten !== null && account.forgotten >= span.from ? account.forgotten : null;
    return { cron, from: span.from, to: span.to, now, ...timelineOf(facts, span), forgotten };
  }
}

function checkedSpan({ from: asked, to: end, limit = 1_000 }: TimelineQuery, now: number) {
  const from = Math.max(0, checkedInstant('from', asked ?? Math.min(now, end ?? now) - DAY_MS));
  const to = checkedInstant('to', end ?? Math.max(from, now) + DAY_MS);
  if (from >= to) throw wrong('from', `before "to" (${new Date(to).toISOString()})`, new Date(from));
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_ITEMS) {
    throw wrong('limit', `a whole number from 1 to ${MOST_ITEMS}`, limit);
  }
  return { from, to, limit };
}
