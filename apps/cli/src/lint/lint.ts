import { EXIT } from '../exit.js';
import { iso, type Report } from '../report.js';
import { table } from '../table.js';
import { stampedeFindings } from './stampede-findings.js';
import { groupBy, scheduleText, type LintFinding, type LintedCron, type Span } from './finding.js';
import { parseSchedule, ScheduleError } from '../jobs.js';
import { touchedTimes, wallTime } from '../time/clock-changes.js';

export interface LintQuestion {
  readonly crons: readonly LintedCron[];
  readonly from: number;
  /** How many crons at one instant are a stampede. */
  readonly threshold: number;
}

const FIVE_YEARS_MS = 5 * 365.25 * 86_400_000;

/** What may surprise somebody about these crons. Fails for what nobody has declared. */
export function lint({ crons, from, threshold }: LintQuestion): Report {
  const span = { from, to: from + FIVE_YEARS_MS };
  const unreadable = crons.flatMap((cron) => unreadableFindings(cron, from));
  const broken = new Set(unreadable.flatMap((finding) => finding.crons));
  const readable = crons.filter(({ name }) => !broken.has(name));
  const findings = [
    ...unreadable,
    ...readable.flatMap((cron) => dstFindings(cron, span)),
    ...stampedeFindings(readable, from, threshold),
    ...duplicateFindings(readable),
    ...readable.flatMap(impossibleDateFindings),
  ];
  const undeclared = findings.filter(({ level }) => level === 'undeclared').length;
  return {
    code: undeclared === 0 ? EXIT.ok : EXIT.finding,
    json: {
      ...{ ok: undeclared === 0, crons: crons.length, undeclared, from: iso(from), to: iso(span.to) },
      findings: findings.map(({ lines: _, ...finding }) => finding),
    },
    text: (width) => [
      ...table(findings.flatMap(rows), width),
      summary(crons.length, undeclared, findings.length - undeclared),
    ],
  };
}

function rows({ rule, level, text, lines = [] }: LintFinding): string[][] {
  return [[level, rule, text], ...lines.map((line) => ['', '', line])];
}

function summary(crons: number, undeclared: number, notes: number): string {
  return `${count(crons, 'cron')} checked: ${undeclared} undeclared, ${count(notes, 'note')}.`;
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}

/** Crons that do the same at the same instants. Each by a handler of its own is a coincidence; by the same one it is not. */
function duplicateFindings(crons: readonly LintedCron[]): LintFinding[] {
  // What comes only when it is asked for never comes twice by itself.
  const scheduled = crons.filter(({ expression }) => expression.trim() !== '@manual');
  return groupBy(scheduled, sameness)
    .filter((group) => group.length > 1)
    .map(findingOf);
}

function sameness({ name, expression, timeZone, dst, spreadMs, handler = name, payload = null }: LintedCron): string {
  const words = expression.trim().toLowerCase().split(/\s+/);
  return JSON.stringify([words, timeZone.toLowerCase(), dst ?? null, spreadMs ?? 0, handler, payload]);
}

function findingOf(group: readonly LintedCron[]): LintFinding {
  const crons = group.map(({ name }) => name);
  const [{ expression, timeZone } = { expression: '', timeZone: '' }] = group;
  const text = `${crons.map((name) => `"${name}"`).join(' and ')} have one schedule (${expression}, ${timeZone}), one handler and one payload: the same work is done ${crons.length} times.`;
  return { rule: 'duplicate', level: 'note', crons, text };
}

/** A program with another parser or time zone database may have declared what this one can't read: nobody here knows when it fires. */
function unreadableFindings(cron: LintedCron, now: number): LintFinding[] {
  try {
    parseSchedule(scheduleText(cron), now);
    return [];
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    const text = `"${cron.name}" (${cron.expression}, ${cron.timeZone}) can't be read: expected ${error.part} to be ${error.expected}.`;
    return [{ rule: 'unreadable', level: 'undeclared', crons: [cron.name], text }];
  }
}

/** Five years have some ten changes of the clocks; where the state decides each year, more. */
const MAX_EXAMPLES = 20;

/**
 * Local times of a cron that are left out or come twice. A fixed time has a rule for them, and where nobody wrote it down
 * the default may or may not be meant. An interval is about elapsed time: it only loses or gains what its hours name.
 */
function dstFindings(cron: LintedCron, { from, to }: Span): LintFinding[] {
  const text = scheduleText(cron);
  const { kind } = parseSchedule(text, from);
  const counts = { gap: 0, repeat: 0 };
  const examples: Example[] = [];
  for (const time of touchedTimes(text, from, to)) {
    counts[time.kind] += 1;
    if (examples.length >= MAX_EXAMPLES) continue;
    examples.push({ kind: time.kind, local: wallTime(time.wall), instants: time.instants.map((at) => iso(at)) });
  }
  // An interval that names every hour has its next instant soon enough, whatever clocks do.
  if (examples.length === 0 || (kind === 'interval' && !namesHours(cron))) return [];
  const declared = kind === 'interval' || cron.dst !== undefined;
  const base = { rule: 'dst', level: declared ? 'note' : 'undeclared', crons: [cron.name] } as const;
  return [{ ...base, kind, ...counts, examples, text: sentence(cron, kind, counts), lines: examples.map(exampleLine) }];
}

interface Example {
  readonly kind: 'gap' | 'repeat';
  readonly local: string;
  /** When it fires, if at all. */
  readonly instants: readonly string[];
}

function exampleLine({ kind, local, instants }: Example): string {
  const what = kind === 'gap' ? 'does not exist' : 'comes twice';
  return `${local} ${what}; it fires ${instants.length === 0 ? 'not at all' : `at ${instants.join(' and ')}`}`;
}

function namesHours({ expression }: LintedCron): boolean {
  const fields = expression.trim().split(/\s+/);
  const hour = fields.at(-4);
  return fields.length >= 5 && hour !== undefined && !/^[*?]/.test(hour);
}

function sentence(cron: LintedCron, kind: 'fixed' | 'interval', counts: { gap: number; repeat: number }): string {
  const { name, expression, timeZone, dst } = cron;
  const what = `"${name}" (${expression}, ${timeZone}): within five years ${counts.gap} local times do not exist and ${counts.repeat} come twice`;
  if (kind === 'interval') return `${what}; the former do not fire, the latter fire twice.`;
  if (dst !== undefined) return `${what}; declared: gap ${dst.gap}, repeat ${dst.repeat}.`;
  return `${what}; set "dst", or choose another time. The default is the first valid instant after a gap, and the first of two repeated ones.`;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** In a leap year. */
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Days that a month of the expression doesn't have. An expression that only has such days is refused by its parser; one
 * that has others too fires less often than it reads.
 */
function impossibleDateFindings(cron: LintedCron): LintFinding[] {
  const fields = cron.expression.trim().split(/\s+/);
  const [day, month] = [fields.at(-3), fields.at(-2)];
  if (fields.length < 5 || day === undefined || month === undefined) return [];
  const months = monthsOf(month);
  const dates = day.split(',').flatMap((atom) => missingDates(Number(/^\d+/.exec(atom)?.[0]), months));
  if (dates.length === 0) return [];
  const text = `"${cron.name}" (${cron.expression}) names ${dates.join(', ')}: it does not fire in months without that day. Use "L" for the last day of a month.`;
  return [{ rule: 'impossible-date', level: 'note', crons: [cron.name], dates, text }];
}

/** A range is measured by its least day: 1-31 is how people write "every day". */
function missingDates(day: number, months: readonly number[]): string[] {
  const missing = months.filter((month) => day > (LENGTHS[month] ?? 31)).map((month) => `${day} ${title(month)}`);
  return day === 29 && months.length < 12 && months.includes(1) ? [...missing, '29 Feb (leap years only)'] : missing;
}

function monthsOf(field: string): number[] {
  const named = field.split(',').flatMap((atom) => {
    const [range = '', step = '1'] = atom.split('/');
    const [low, high] = /^[*?H]/.test(range) ? [0, 11] : bounds(range, atom.includes('/'));
    return LENGTHS.flatMap((_, month) =>
      month >= low && month <= high && (month - low) % Number(step) === 0 ? [month] : [],
    );
  });
  return [...new Set(named)];
}

/** `3/4` begins at 3 and goes on to the end. */
function bounds(range: string, stepped: boolean): [number, number] {
  const [from = '', to] = range.split('-');
  return [monthOf(from), to === undefined ? (stepped ? 11 : monthOf(from)) : monthOf(to)];
}

function monthOf(text: string): number {
  const named = MONTHS.indexOf(text.toLowerCase());
  return named >= 0 ? named : Number(text) - 1;
}

function title(month: number): string {
  const name = MONTHS[month] ?? '';
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
