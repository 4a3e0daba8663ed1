import { groupBy } from '../lint/finding.js';
import { parseSchedule, type ShadowReading, type ShadowRecord, type WatchedCron } from '../jobs.js';

/**
 * What the old way did at an instant. `same`: one pod ran it, as one would with Fencepost. `missed`: none did. `late`: one did,
 * later than was asked about.
 */
export type ShadowVerdict = 'same' | 'doubled' | 'missed' | 'late';

export interface ComparedInstant {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly verdict: ShadowVerdict;
  /** The pods that ran it, with how much later; the earliest first. */
  readonly ran: readonly { readonly pod: string; readonly lateByMs: number }[];
  /** Pods that left it out, because the run before was still going on. */
  readonly busy: readonly string[];
  /** The pod that would have run it with Fencepost; `null` where none was live, or pods were just changing. */
  readonly would: string | null;
}

export interface ComparedCron extends WatchedCron {
  readonly counts: Readonly<Record<ShadowVerdict, number>>;
  /** All that are not `same`, oldest first, the newest {@link MAX_INSTANTS} of them. */
  readonly instants: readonly ComparedInstant[];
}

export interface CompareOptions {
  readonly lateMs: number;
}

/** Of one cron. More would be no report. */
const MAX_INSTANTS = 1_000;

/** Clocks of pods differ, and the clock of a pod may be this far behind an instant that it runs. */
const AHEAD_MS = 500;

/** Each instant of each cron while it was watched, and what pods recorded of it. */
export function compare({ crons, records, droppedBefore }: ShadowReading, options: CompareOptions): ComparedCron[] {
  const byCron = new Map(groupBy(records, ({ cron }) => cron).map((group) => [group[0]?.cron, group]));
  return crons
    .map((cron) => ({ ...cron, since: Math.max(cron.since, droppedBefore ?? -Infinity) }))
    .map((cron) => compareCron(cron, byCron.get(cron.name) ?? [], options))
    .toSorted((a, b) => Number(a.name > b.name) - Number(a.name < b.name) || a.since - b.since);
}

function compareCron(cron: WatchedCron, records: readonly ShadowRecord[], { lateMs }: CompareOptions): ComparedCron {
  const { name, expression, timeZone, since, until } = cron;
  const schedule = parseSchedule({ expression, timeZone, seed: name }, since);
  const recorded = new Map<number, ShadowRecord[]>();
  for (const record of records) {
    // What happened belongs to the last instant before it.
    const at = record.kind === 'due' ? record.at : schedule.previous(record.at + AHEAD_MS + 1);
    if (at !== null) recorded.set(at, [...(recorded.get(at) ?? []), record]);
  }
  const counts = { same: 0, doubled: 0, missed: 0, late: 0 };
  const instants: ComparedInstant[] = [];
  // An instant counts when it could have been run, late as well, while the cron was watched.
  for (const at of schedule.between(since + 1, until - lateMs)) {
    const instant = compareInstant(at, recorded.get(at) ?? [], lateMs);
    counts[instant.verdict] += 1;
    if (instant.verdict === 'same') continue;
    if (instants.push(instant) > MAX_INSTANTS) instants.shift();
  }
  return { ...cron, counts, instants };
}

function compareInstant(at: number, records: readonly ShadowRecord[], lateMs: number): ComparedInstant {
  const of = (kind: ShadowRecord['kind']) => records.filter((record) => record.kind === kind);
  const ran = of('tick')
    .map(({ pod, at: ranAt }) => ({ pod, lateByMs: Math.max(0, ranAt - at) }))
    .toSorted((a, b) => a.lateByMs - b.lateByMs);
  return {
    at,
    verdict: verdictOf(ran, lateMs),
    ran,
    busy: of('busy').map(({ pod }) => pod),
    would: of('due')[0]?.pod ?? null,
  };
}

function verdictOf(ran: ComparedInstant['ran'], lateMs: number): ShadowVerdict {
  const [first, second] = ran;
  if (first === undefined) return 'missed';
  if (second !== undefined) return 'doubled';
  return first.lateByMs > lateMs ? 'late' : 'same';
}
