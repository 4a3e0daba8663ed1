import { parseSchedule, type CronSchedule } from '../jobs.js';
import { groupBy, scheduleText, type LintFinding, type LintedCron } from './finding.js';
import { iso, shortIso } from '../report.js';

const WEEK_S = 7 * 86_400;
const MAX_FINDINGS = 20;
const NAMED = 5;

interface Group {
  readonly schedule: CronSchedule;
  readonly names: string[];
  /** Chosen at random but always the same: the sum over the groups of an instant tells which they are. */
  readonly mark: number;
}

interface Rush {
  readonly at: number;
  readonly crons: number;
  times: number;
}

/**
 * Crons that are due in the same second although nobody spread them, over a week from `from`. The same crons at several
 * instants are one finding.
 */
export function stampedeFindings(crons: readonly LintedCron[], from: number, threshold: number): LintFinding[] {
  const start = Math.ceil(from / 1_000) * 1_000;
  // Crons of one expression have the same instants, and a thousand of them are looked at once.
  const groups = groupsOf(
    crons.filter(({ spreadMs = 0 }) => spreadMs === 0),
    start,
  );
  const rushes = [...rushesOf(groups, start, threshold)].toSorted((a, b) => b.crons - a.crons || a.at - b.at);
  return rushes.slice(0, MAX_FINDINGS).map((rush) => finding(rush, groups));
}

function groupsOf(crons: readonly LintedCron[], from: number): Group[] {
  const alike = groupBy(crons, (cron) => JSON.stringify({ ...scheduleText(cron), seed: seedOf(cron) }));
  return alike.flatMap(([first, ...others], n) => {
    if (first === undefined) return [];
    const names = [first, ...others].map(({ name }) => name);
    return [{ schedule: parseSchedule(scheduleText(first), from), names, mark: mixed(n + 1) }];
  });
}

/** Far apart for neighbours, so that no two sums of a few are the same: the last step of MurmurHash3. */
function mixed(n: number): number {
  const once = Math.imul(n ^ (n >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}

/** `H` is a number that comes from the name. */
function seedOf({ name, expression }: LintedCron): string {
  return /h/i.test(expression) ? name : '';
}

function rushesOf(groups: readonly Group[], start: number, threshold: number): Iterable<Rush> {
  const [counts, marks] = [new Uint32Array(WEEK_S), new Int32Array(WEEK_S)];
  for (const { schedule, names, mark } of groups) {
    for (const at of schedule.between(start, start + WEEK_S * 1_000)) {
      const second = (at - start) / 1_000;
      counts[second] = (counts[second] ?? 0) + names.length;
      marks[second] = (marks[second] ?? 0) + mark;
    }
  }
  const rushes = new Map<number | undefined, Rush>();
  for (const [second, crons] of counts.entries()) {
    if (crons < threshold) continue;
    const known = rushes.get(marks[second]);
    if (known) known.times += 1;
    else rushes.set(marks[second], { at: start + second * 1_000, crons, times: 1 });
  }
  return rushes.values();
}

function finding({ at, times }: Rush, groups: readonly Group[]): LintFinding {
  const crons = groups.filter(({ schedule }) => schedule.next(at - 1) === at).flatMap(({ names }) => names);
  const more = crons.length > NAMED ? ` and ${crons.length - NAMED} more` : '';
  const names = crons.slice(0, NAMED).map((name) => `"${name}"`);
  const text = `${crons.length} crons without "spread" are due at the same second, ${times} times within a week, first at ${shortIso(at)}: ${names.join(', ')}${more}. Set a spread, or use other times.`;
  return { rule: 'stampede', level: 'undeclared', crons, first: iso(at), times, text };
}
