import type { LintFinding, LintedCron } from './finding.js';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** In a leap year. */
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Days that a month of the expression doesn't have. An expression that only has such days is refused by its parser; one
 * that has others too fires less often than it reads.
 */
export function impossibleDateFindings(cron: LintedCron): LintFinding[] {
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
