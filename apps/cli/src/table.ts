import { padded, widthOf } from './colour.js';

/** A last column that is narrower than this is not worth wrapping into. */
const NARROWEST = 20;
const GAP = '  ';

/** Columns below each other; what is too long for the line goes on in the last column, below itself. */
export function table(rows: readonly (readonly string[])[], width: number): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: Math.max(0, columns - 1) }, (_, n) =>
    Math.max(...rows.map((row) => (row.length > n + 1 || row.length === columns ? widthOf(row[n] ?? '') : 0))),
  );
  const indent = widths.reduce((sum, each) => sum + each + GAP.length, 0);
  return rows.flatMap((row) => {
    const head = row.slice(0, -1).map((cell, n) => padded(cell, widths[n] ?? 0) + GAP);
    const last = wrap(row.at(-1) ?? '', Math.max(NARROWEST, width - indent));
    return last.map((line, n) => `${n === 0 ? head.join('') : ' '.repeat(indent)}${line}`.trimEnd());
  });
}

/** Broken between words. A word that is longer than the line stays whole: it may be a name to copy. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** One line as it is, or several, those after the first a little further right. */
export function hanging(text: string, width: number, indent = 2): string[] {
  return wrap(text, Math.max(NARROWEST, width - indent)).map((line, n) => (n === 0 ? line : ' '.repeat(indent) + line));
}
