/** A line of the log of a run; a line of another form has no level. */
export interface ShownLine {
  readonly level: string | null;
  readonly whole: string;
}

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

const LINE = /^\S+Z (\w+) \[attempt \d+ · fence \d+\] /;

/** The lines of a level that have the words, whatever the case. */
export function fittingLines(
  lines: readonly string[],
  filter: { readonly level: string; readonly words: string },
): ShownLine[] {
  const words = filter.words.trim().toLowerCase();
  return lines
    .map((whole) => ({ level: LINE.exec(whole)?.[1] ?? null, whole }))
    .filter(({ level }) => filter.level === '' || level === filter.level)
    .filter(({ whole }) => whole.toLowerCase().includes(words));
}
