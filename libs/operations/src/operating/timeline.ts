import type { Generation } from '@fencepost/ledger/catalog';
import type { Account } from '@fencepost/ledger';
import { occurrenceId, type Run, type SkipRange } from '@fencepost/ledger/run';
import { skipCover } from '../audit/skip-cover.js';
import { instantsOf, validityIntervalsOf, intervalPartsOf, type IntervalPart } from '../audit/validity-intervals.js';
import type { TimelineItem, TimelinePart } from './timeline-run.js';
import { itemOfRun } from './timeline-run.js';

export interface TimelineFacts {
  /** Oldest first. */
  readonly generations: readonly Generation[];
  /** All that is recorded of the span. */
  readonly account: Account;
  readonly cursor: number | null;
  /** The store's clock. */
  readonly now: number;
}

export interface TimelineSpan {
  /** `[from, to)`, nominal instants. */
  readonly from: number;
  readonly to: number;
  /** At most so many items. */
  readonly limit: number;
}

/** A day of a cron that fires each second, and some more. Beyond that whoever asks has to ask again. */
export const MAX_INSTANTS = 100_000;

/** So many instants to come are items of their own; of a dense cron the rest is one. */
const MAX_AHEAD = 50;

/**
 * Every instant of a span, in order, and what became of it. Instants without a run that have the same fate are one item, so
 * that a week without pods is one, and not 600,000. Yields after each instant.
 */
export function* timelineOf(facts: TimelineFacts, span: TimelineSpan): Generator<void, TimelinePart, undefined> {
  const line = new Line(facts, span.limit);
  let left = MAX_INSTANTS;
  for (const moment of momentsOf(facts, span)) {
    left -= 1;
    if (left < 0 || !line.add(moment)) return { items: line.items, more: moment.at };
    yield;
  }
  return { items: line.items, more: null };
}

/** An instant of the schedule, or a time at which only runs stand that somebody asked for. */
interface Moment {
  readonly at: number;
  readonly part: IntervalPart | null;
}

function* momentsOf({ generations, account }: TimelineFacts, { from, to }: TimelineSpan): Generator<Moment> {
  const times = [...new Set(account.runs.map(({ scheduledAt }) => scheduledAt))].toSorted((a, b) => a - b);
  const asked = times.filter((at) => at >= from && at < to);
  let next = 0;
  for (const part of intervalPartsOf(validityIntervalsOf(generations), { from, to: to - 1, dueBy: Infinity })) {
    for (const at of instantsOf(part)) {
      for (let time = asked[next]; time !== undefined && time <= at; time = asked[(next += 1)]) {
        if (time < at) yield { at: time, part: null };
      }
      yield { at, part };
    }
  }
  for (const at of asked.slice(next)) yield { at, part: null };
}

class Line {
  readonly items: TimelineItem[] = [];
  readonly #runs = new Map<number, Run[]>();
  readonly #rangeOf: (instant: number) => SkipRange | null;
  readonly #targets = new Map<SkipRange, string | null>();
  #ahead = 0;

  constructor(
    private readonly facts: TimelineFacts,
    private readonly limit: number,
  ) {
    for (const run of facts.account.runs.toSorted(byClaim)) {
      this.#runs.set(run.scheduledAt, [...(this.#runs.get(run.scheduledAt) ?? []), run]);
    }
    this.#rangeOf = skipCover(facts.account.skips);
  }

  /** `false` when there is no room for it. */
  add({ at, part }: Moment): boolean {
    const runs = this.#runs.get(at) ?? [];
    const grace = (part?.generation ?? this.facts.generations.at(-1))?.definition.graceMs ?? 0;
    const fate = part && !hasNatural(runs, at) ? this.#fate(at, part) : null;
    if (fate && runs.length === 0 && this.#extend(fate, at)) return true;
    const fresh = [...(fate ? [fate] : []), ...runs.map((run) => itemOfRun(run, grace))];
    if (this.items.length > 0 && this.items.length + fresh.length > this.limit) return false;
    this.items.push(...fresh);
    return true;
  }

  #extend(fate: TimelineItem, at: number): boolean {
    const last = this.items.at(-1);
    if (!last || last.attempt > 0 || last.lateByMs !== null) return false;
    const isSame = last.outcome === fate.outcome && last.reason === fate.reason && last.runId === fate.runId;
    if (!isSame || (fate.outcome === 'ahead' && (this.#ahead += 1) <= MAX_AHEAD)) return false;
    this.items[this.items.length - 1] = { ...last, until: at, count: last.count + 1 };
    return true;
  }

  /** `null` where the ledger may have forgotten it: nothing can be said then. */
  #fate(at: number, { schedule }: IntervalPart): TimelineItem | null {
    const { account, cursor, now } = this.facts;
    const range = this.#rangeOf(at);
    const fate = fateOf({ range, cursor, now, forgotten: account.forgotten }, at, schedule);
    if (!fate) return null;
    const runId = range?.reason === 'merged' ? this.#target(range, at) : null;
    const nothing = { lateByMs: null, tookMs: null, attempt: 0, asked: null };
    return { scheduledAt: at, until: null, count: 1, ...fate, runId, ...nothing };
  }

  #target(range: SkipRange, at: number): string | null {
    const known = this.#targets.get(range);
    if (known !== undefined) return known;
    const found = mergedInto(this.facts.account.runs, at)?.id ?? null;
    this.#targets.set(range, found);
    return found;
  }
}

/** The run that stands for a missed instant. */
export function mergedInto(runs: readonly Run[], at: number): Run | undefined {
  return runs.find(({ missed }) => missed !== null && missed.from <= at && at <= missed.to);
}

function byClaim(one: Run, other: Run): number {
  return one.claimedAt - other.claimedAt || (one.id < other.id ? -1 : 1);
}

function hasNatural(runs: readonly Run[], scheduledAt: number): boolean {
  return runs.some(({ id, cron }) => id === occurrenceId({ cron, scheduledAt }));
}

interface Known {
  /** The one that the instant lies in. */
  readonly range: SkipRange | null;
  readonly cursor: number | null;
  readonly now: number;
  readonly forgotten: number | null;
}

/** What became of an instant that has no run; `null` where the ledger may have forgotten it: nothing can be said then. */
export function fateOf(
  { range, cursor, now, forgotten }: Known,
  at: number,
  { spreadMs }: Pick<IntervalPart['schedule'], 'spreadMs'>,
): Pick<TimelineItem, 'outcome' | 'reason'> | null {
  if (range) return range.reason === 'merged' ? MERGED : { outcome: 'skipped', reason: range.reason };
  if (at + spreadMs > now) return AHEAD;
  if (cursor === null || at > cursor) return UNCLAIMED;
  return at <= (forgotten ?? -Infinity) ? null : MISSED;
}

const MERGED = { outcome: 'merged', reason: null } as const;
const AHEAD = { outcome: 'ahead', reason: null } as const;
const UNCLAIMED = { outcome: 'waiting', reason: 'unclaimed' } as const;
const MISSED = { outcome: 'missed', reason: null } as const;
