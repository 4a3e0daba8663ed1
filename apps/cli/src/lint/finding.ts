import type { CronDefinition } from '../jobs.js';

/** What the checks look at: a definition, or as much of one as stands on a command line. */
export type LintedCron = Pick<CronDefinition, 'name' | 'expression' | 'timeZone'> &
  Partial<Pick<CronDefinition, 'dst' | 'spreadMs' | 'handler' | 'payload'>>;

export interface LintFinding {
  readonly rule: 'unreadable' | 'dst' | 'stampede' | 'duplicate' | 'impossible-date';
  /** `undeclared`: somebody has to say what is meant. `note`: worth a look, and nothing has to be done. */
  readonly level: 'undeclared' | 'note';
  readonly crons: readonly string[];
  /** One sentence. */
  readonly text: string;
  /** For a person to read below it, a line each. */
  readonly lines?: readonly string[];
  /** The facts behind it. */
  readonly [detail: string]: unknown;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The text of a schedule as its parser wants it. */
export function scheduleText({ name, expression, timeZone, dst, spreadMs }: LintedCron) {
  return { expression, timeZone, seed: name, ...(dst && { dst }), ...(spreadMs !== undefined && { spreadMs }) };
}

/** What belongs together, in the order it came. `Map.groupBy` is younger than the oldest Node.js this runs on. */
export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}
