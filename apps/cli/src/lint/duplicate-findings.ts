import { groupBy } from '../group-by.js';
import type { LintFinding, LintedCron } from './finding.js';

/** Crons that do the same at the same instants. Each by a handler of its own is a coincidence; by the same one it is not. */
export function duplicateFindings(crons: readonly LintedCron[]): LintFinding[] {
  // What comes only when it is asked for never comes twice by itself.
  const scheduled = crons.filter(({ expression }) => expression.trim() !== '@manual');
  return groupBy(scheduled, sameness)
    .filter((group) => group.length > 1)
    .map(finding);
}

function sameness({ name, expression, timeZone, dst, spreadMs, handler = name, payload = null }: LintedCron): string {
  const words = expression.trim().toLowerCase().split(/\s+/);
  return JSON.stringify([words, timeZone.toLowerCase(), dst ?? null, spreadMs ?? 0, handler, payload]);
}

function finding(group: readonly LintedCron[]): LintFinding {
  const crons = group.map(({ name }) => name);
  const [{ expression, timeZone } = { expression: '', timeZone: '' }] = group;
  const text = `${crons.map((name) => `"${name}"`).join(' and ')} have one schedule (${expression}, ${timeZone}), one handler and one payload: the same work is done ${crons.length} times.`;
  return { rule: 'duplicate', level: 'note', crons, text };
}
