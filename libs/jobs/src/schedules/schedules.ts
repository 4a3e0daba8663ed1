import type { Clock } from '@fencepost/lease';
import type { CronDefinition, CatalogEntry, Generation } from '@fencepost/ledger/catalog';
import { isEvery, resolvedExpression, parseSchedule, spreadOf, type CronSchedule } from '@fencepost/schedule';
import { asError } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { EFFECTIVE_AFTER_MS, KEPT_GENERATIONS, TOMBSTONE_MS } from '@fencepost/ledger/catalog';

export interface SchedulesDeps {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** The cache is cleared beyond this many schedules; crons keep theirs. */
const MAX_KEPT = 10_000;

/**
 * The schedules of all crons, cached by expression: a hundred thousand crons have few different ones.
 *
 * A worker has validated the expression, but this pod may have another parser or zone database.
 */
export class Schedules implements SharedSchedules {
  readonly #parsed = new Map<string, SharedSchedule>();

  constructor(private readonly deps: SchedulesDeps) {}

  /** The same for crons that share a schedule: `H` is replaced by numbers derived from the name, and only the spread differs. */
  static keyOf({ name, expression, timeZone, dst, spreadMs, minIntervalMs }: CronDefinition): string {
    const resolved = /h/i.test(expression) && !isEvery(expression) ? resolvedExpression(expression, name) : null;
    return [expression, resolved, timeZone, dst?.gap, dst?.repeat, spreadMs, minIntervalMs].join('\n');
  }

  of(definition: CronDefinition): SharedSchedule | null {
    try {
      const key = Schedules.keyOf(definition);
      const known = this.#parsed.get(key);
      if (known) return known;
      const parsed = parseSchedule({ ...definition, seed: definition.name }, this.deps.clock.now());
      if (this.#parsed.size >= MAX_KEPT) this.#parsed.clear();
      this.#parsed.set(key, parsed);
      return parsed;
    } catch (error) {
      this.deps.telemetry.emit('catalog.unreadable', { cron: definition.name, err: asError(error) });
      return null;
    }
  }
}

/** Shared by all crons with the same expression, zone and rules; only the spread differs. */
export type SharedSchedule = Pick<CronSchedule, 'next' | 'previous' | 'spreadOverMs'>;

export interface SharedSchedules {
  /** `null` for a definition that this pod cannot parse. */
  of(definition: CronDefinition): SharedSchedule | null;
}

/** The instants in `(from, until]`, epoch milliseconds, of one generation, planned by its definition. */
export interface GenerationRange {
  readonly definition: CronDefinition;
  readonly generation: number;
  /** `null`: this pod cannot compute its instants. */
  readonly schedule: SharedSchedule | null;
  /** The spread of the cron. */
  readonly spreadMs: number;
  readonly from: number;
  /** Infinite for the newest generation. */
  readonly until: number;
}

const NONE: readonly GenerationRange[] = [];

/** The state of a held cron. */
interface KeptNewest {
  readonly entry: CatalogEntry;
  /** The cursor in the ledger; `null` for a cron that never had an occurrence. */
  readonly cursor: number | null;
  newest: GenerationRange | null;
}

/** A removed cron has at least this long between its last instant and the first generation when it is declared again. */
const FORGOTTEN_AFTER_MS = TOMBSTONE_MS - EFFECTIVE_AFTER_MS;

/**
 * Whether the catalog lost earlier generations of the cron with its store: the ledger has accounted for instants before the
 * first known generation, and the cron cannot have been removed and forgotten in between.
 *
 * Its first generation is then in force from the cursor on. Instants that came due while the catalog did not know the cron
 * are missed, and the misfire policy applies.
 */
function wasLost({ entry, cursor }: Pick<KeptNewest, 'entry' | 'cursor'>, bornAt: number | null): boolean {
  const { past } = entry;
  const { state, since } = past[0] ?? entry;
  if (cursor === null || cursor >= since || state !== 'active' || past.length >= KEPT_GENERATIONS) return false;
  return since - Math.max(cursor, bornAt ?? -Infinity) < FORGOTTEN_AFTER_MS;
}

/** The newest generation, computed once while the cron is held under it; `null` if it doesn't fire. */
export function newestRange(
  held: KeptNewest,
  schedules: SharedSchedules,
  bornAt: number | null = null,
): GenerationRange | null {
  const { entry, newest, cursor } = held;
  if (entry.state !== 'active') return null;
  const isFromCursor = entry.past.length === 0 && wasLost(held, bornAt);
  const from = isFromCursor && cursor !== null ? cursor : entry.since;
  const isSame = newest?.definition === entry.definition && newest.generation === entry.generation;
  if (isSame && newest.from === from) return newest;
  held.newest = { ...rangeOf(entry, Infinity, schedules), from };
  return held.newest;
}

/**
 * Pending instants of the earlier generations, oldest first: usually none.
 *
 * Instants before the oldest kept generation belong to forgotten definitions. They are one range without
 * a schedule, and exist only if the ledger has a cursor before it: a new cron has missed nothing. After the loss of a
 * catalog, they belong to the oldest generation.
 */
export function leftoverRanges(
  held: Pick<KeptNewest, 'entry' | 'cursor'>,
  schedules: SharedSchedules,
  bornAt: number | null = null,
): readonly GenerationRange[] {
  const { entry, cursor } = held;
  const { past } = entry;
  if (cursor === null ? past.length === 0 : cursor >= entry.since) return NONE;
  const oldest = past[0] ?? entry;
  const lost = wasLost(held, bornAt);
  const ranges: GenerationRange[] = [];
  if (!lost && cursor !== null && cursor < oldest.since) ranges.push(unknownRange(oldest, cursor));
  past.forEach((generation, n) => {
    const until = (past[n + 1] ?? entry).since;
    const from = lost && n === 0 && cursor !== null ? cursor : generation.since;
    if (generation.state !== 'active' || until <= Math.max(cursor ?? 0, from)) return;
    ranges.push({ ...rangeOf(generation, until, schedules), from });
  });
  return ranges;
}

function rangeOf(
  { definition, generation, since }: Generation,
  until: number,
  schedules: SharedSchedules,
): GenerationRange {
  const schedule = schedules.of(definition);
  const spreadMs = schedule === null ? 0 : spreadOf(definition.name, schedule.spreadOverMs);
  return { definition, generation, schedule, spreadMs, from: since, until };
}

function unknownRange({ definition, generation, since }: Generation, from: number): GenerationRange {
  return { definition, generation, schedule: null, spreadMs: 0, from, until: since };
}
