import { EXIT } from '../exit.js';
import { iso, type Report } from '../report.js';
import { table } from '../table.js';
import { dstFindings } from './dst-findings.js';
import { duplicateFindings } from './duplicate-findings.js';
import type { LintFinding, LintedCron } from './finding.js';
import { impossibleDateFindings } from './impossible-date-findings.js';
import { stampedeFindings } from './stampede-findings.js';
import { unreadableFindings } from './unreadable-findings.js';

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
  return `${count(crons, 'cron')} looked at: ${undeclared} undeclared, ${count(notes, 'note')}.`;
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}
