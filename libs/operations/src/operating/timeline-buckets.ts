import type { Generation } from '@fencepost/ledger/catalog';
import type { RunHistory } from '@fencepost/ledger';
import { skipCover } from '../audit/skip-cover.js';
import { instantsOf, intervalPartsOf, validityIntervalsOf } from '../audit/validity-intervals.js';
import { fateOf, MAX_INSTANTS, type TimelineSpan } from './timeline.js';
import { outcomeOf, type TimelineItem, type TimelinePart } from './timeline-run.js';

type Tally = Awaited<ReturnType<RunHistory['tally']>>;
export type TallyRow = Tally['rows'][number];

export interface BucketFacts {
  /** Oldest first. */
  readonly generations: readonly Generation[];
  /** All that is recorded of the span, counted. */
  readonly tally: Tally;
  readonly cursor: number | null;
  /** The store's clock. */
  readonly now: number;
}

export interface BucketSpan extends TimelineSpan {
  readonly bucketMs: number;
}

type Kind = Pick<TimelineItem, 'outcome' | 'reason' | 'asked'>;

/**
 * What became of the instants of a span, counted: instants of one bucket with the same fate are one item. It costs as many steps
 * as the span has instants and nothing for each run. Yields after each instant.
 *
 * Which instants the runs of a bucket have is not known, only how many of them are the schedule's own: so many of its instants
 * have one, and the rest of those whose time is over was missed.
 */
export function* bucketsOf(facts: BucketFacts, span: BucketSpan): Generator<void, TimelinePart, undefined> {
  const buckets = new Buckets(span.bucketMs);
  for (const row of facts.tally.rows) buckets.at(row.at).addRuns(row);
  const end = yield* addInstants(buckets, facts, span);
  // Of a bucket that was not read to its end nothing is said yet.
  const start = end - (end % span.bucketMs);
  const through = end < span.to && start > span.from ? start : end;
  const items: TimelineItem[] = [];
  for (const [at, bucket] of buckets.inOrder()) {
    if (at >= through) break;
    const fresh = bucket.items({ at: Math.max(at, span.from), until: Math.min(at + span.bucketMs, span.to) - 1 });
    if (items.length > 0 && items.length + fresh.length > span.limit) return { items, more: at };
    items.push(...fresh);
  }
  return { items, more: through < span.to ? through : null };
}

/** @returns up to where the instants were looked at */
function* addInstants(
  buckets: Buckets,
  { generations, tally, cursor, now }: BucketFacts,
  { from, to }: BucketSpan,
): Generator<void, number, undefined> {
  const end = tally.more ?? to;
  const rangeOf = skipCover(tally.skips);
  // Up to there nothing can be said of an instant without a run.
  const known = Math.max(from, (tally.forgotten ?? -1) + 1);
  let left = MAX_INSTANTS;
  for (const part of intervalPartsOf(validityIntervalsOf(generations), { from: known, to: end - 1, dueBy: Infinity })) {
    for (const at of instantsOf(part)) {
      if ((left -= 1) < 0) return at;
      const fate = fateOf({ range: rangeOf(at), cursor, now, forgotten: tally.forgotten }, at, part.schedule);
      if (fate) buckets.at(at).addInstant({ ...fate, asked: null });
      yield;
    }
  }
  return end;
}

class Buckets {
  readonly #buckets = new Map<number, Bucket>();

  constructor(private readonly bucketMs: number) {}

  at(instant: number): Bucket {
    const start = instant - (instant % this.bucketMs);
    const bucket = this.#buckets.get(start) ?? new Bucket();
    this.#buckets.set(start, bucket);
    return bucket;
  }

  inOrder(): [start: number, Bucket][] {
    return [...this.#buckets].toSorted(([a], [b]) => a - b);
  }
}

/** An instant that has a run is not skipped, hardly to come, and may have moved no cursor yet. */
const HAS_ONE_FIRST = ['missed', 'waiting', 'ahead', 'merged', 'skipped'];

class Bucket {
  readonly #runs = new Counts();
  readonly #instants = new Counts();
  #natural = 0;

  addRuns(row: TallyRow): void {
    const { reason, natural, count } = row;
    const asked = reason === 'manual' || reason === 'backfill' ? reason : null;
    this.#runs.add({ outcome: outcomeOf(row, row), reason: reasonOf(row), asked }, count);
    if (natural) this.#natural += count;
  }

  addInstant(kind: Kind): void {
    this.#instants.add(kind, 1);
  }

  items({ at, until }: { readonly at: number; readonly until: number }): TimelineItem[] {
    const nothing = { runId: null, lateByMs: null, tookMs: null, attempt: 0 };
    const all = [...this.#runs.of(), ...this.#withoutRun()].filter(([, count]) => count > 0);
    return all.map(([kind, count]) => ({ scheduledAt: at, until, count, ...kind, ...nothing }));
  }

  #withoutRun(): [Kind, number][] {
    let left = this.#natural;
    const inTurn = this.#instants
      .of()
      .toSorted(([a], [b]) => HAS_ONE_FIRST.indexOf(a.outcome) - HAS_ONE_FIRST.indexOf(b.outcome));
    return inTurn.map(([kind, count]) => {
      const have = Math.min(left, count);
      left -= have;
      return [kind, count - have];
    });
  }
}

function reasonOf({ state, skipped, reason }: TallyRow): string | null {
  if (state === 'skipped') return skipped === 'merged' ? null : skipped;
  if (state === 'orphaned') return 'orphaned';
  return reason === 'schedule' ? null : reason;
}

class Counts {
  readonly #counts = new Map<string, [Kind, number]>();

  add(kind: Kind, count: number): void {
    const key = `${kind.outcome} ${kind.reason} ${kind.asked}`;
    const known = this.#counts.get(key);
    if (known) known[1] += count;
    else this.#counts.set(key, [kind, count]);
  }

  of(): [Kind, number][] {
    return [...this.#counts.values()];
  }
}
