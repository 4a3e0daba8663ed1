import {
  EFFECTIVE_AFTER_MS,
  KEPT_GENERATIONS,
  TOMBSTONE_MS,
  type CatalogEntry,
  type CronDefinition,
  type Generation,
} from '@fencepost/ledger/catalog';
import { spreadOf, type CronSchedule } from '@fencepost/schedule';

/** What all crons of the same expression, zone and rules have in common: everything but how far each is put off. */
export type SharedSchedule = Pick<CronSchedule, 'next' | 'previous' | 'spreadOverMs'>;

export interface SharedSchedules {
  /** `null` for a definition that this pod can't read. */
  of(definition: CronDefinition): SharedSchedule | null;
}

/** The instants in `(from, until]`, epoch milliseconds: those of one generation, and planned by its definition. */
export interface GenerationRange {
  readonly definition: CronDefinition;
  readonly generation: number;
  /** `null`: nobody here can say which instants it has. */
  readonly schedule: SharedSchedule | null;
  /** How much later than its instants the cron is due. */
  readonly spreadMs: number;
  readonly from: number;
  /** Infinite for the newest generation. */
  readonly until: number;
}

const NONE: readonly GenerationRange[] = [];

/** What is kept with a cron while it is held. */
export interface KeptNewest {
  readonly entry: CatalogEntry;
  /** Where the ledger's cursor is; `null` for a cron that never had an occurrence. */
  readonly cursor: number | null;
  newest: GenerationRange | null;
}

/** Of a cron that was removed, so much at the least lies between its last instant and its next first generation. */
const FORGOTTEN_AFTER_MS = TOMBSTONE_MS - EFFECTIVE_AFTER_MS;

/**
 * Whether the catalog once had generations of the cron before the first it knows, and lost them with its store: the ledger
 * has accounted for instants before it, and the catalog can't have forgotten the cron in the time it was there since then.
 *
 * Its first generation is then in force from the cursor on. What came due while nobody knew the cron was missed, and is the
 * misfire policy's.
 */
function wasLost({ entry, cursor }: Pick<KeptNewest, 'entry' | 'cursor'>, bornAt: number | null): boolean {
  const { past } = entry;
  const { state, since } = past[0] ?? entry;
  if (cursor === null || cursor >= since || state !== 'firing' || past.length >= KEPT_GENERATIONS) return false;
  return since - Math.max(cursor, bornAt ?? -Infinity) < FORGOTTEN_AFTER_MS;
}

/** The newest generation, worked out once for as long as the cron is held under it; `null` when it doesn't fire. */
export function newestRange(
  held: KeptNewest,
  schedules: SharedSchedules,
  bornAt: number | null = null,
): GenerationRange | null {
  const { entry, newest, cursor } = held;
  if (entry.state !== 'firing') return null;
  const isFromCursor = entry.past.length === 0 && wasLost(held, bornAt);
  const from = isFromCursor && cursor !== null ? cursor : entry.since;
  const isSame = newest?.definition === entry.definition && newest.generation === entry.generation;
  if (isSame && newest.from === from) return newest;
  held.newest = { ...rangeOf(entry, Infinity, schedules), from };
  return held.newest;
}

/**
 * What is left of the generations before, oldest first: nothing, as a rule.
 *
 * The instants before the oldest one that is kept belong to definitions nobody knows any more. They are one range without
 * a schedule, and only where the ledger has accounted for some before: a new cron has missed nothing. Those of a catalog that
 * was lost are the oldest generation's.
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
    if (generation.state !== 'firing' || until <= Math.max(cursor ?? 0, from)) return;
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
