import { EXIT } from '../exit.js';
import { iso, type Report } from '../report.js';
import { table } from '../table.js';
import { dstFindings } from './dst-findings.js';
import { impossibleDateFindings } from './impossible-date-findings.js';
import { stampedeFindings } from './stampede-findings.js';
import { groupBy } from '../group-by.js';
import { parseSchedule, ScheduleError } from '../jobs.js';
import { scheduleText, type LintFinding, type LintedCron } from './finding.js';

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
