import { parseSchedule } from '../jobs.js';
import { iso } from '../report.js';
import { touchedTimes } from '../time/clock-changes.js';
import { wallTime } from '../time/local-time.js';
import { scheduleText, type LintFinding, type LintedCron, type Span } from './finding.js';

/** Five years have some ten changes of the clocks; where the state decides each year, more. */
const MAX_EXAMPLES = 20;

/**
 * Local times of a cron that are left out or come twice. A fixed time has a rule for them, and where nobody wrote it down
 * the default may or may not be meant. An interval is about elapsed time: it only loses or gains what its hours name.
 */
export function dstFindings(cron: LintedCron, { from, to }: Span): LintFinding[] {
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
  return [{ ...base, kind, ...counts, examples, text: sentence(cron, kind, counts), lines: examples.map(line) }];
}

interface Example {
  readonly kind: 'gap' | 'repeat';
  readonly local: string;
  /** When it fires, if at all. */
  readonly instants: readonly string[];
}

function line({ kind, local, instants }: Example): string {
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
