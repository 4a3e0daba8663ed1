import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'magenta' | 'cyan';

/** A text of one style. Colours that can be read on a light ground and on a dark one; yellow and blue can't. */
export interface Piece {
  readonly text: string;
  readonly style?: Style;
}

export type Line = readonly (Piece | string)[];

/** Control characters would move the cursor, and characters of two columns would break every line after them. */
const UNFIT = /[^\u0020-\u007e\u00a0-\u024f\u0370-\u052f\u2010-\u2027\u2190-\u21ff\u25a0-\u25ff\u2713-\u2718]/g;

/** One line of at most `width` columns; what doesn't fit ends in an ellipsis. */
export function paint(line: Line, width: number, colour: boolean): string {
  let left = width;
  let painted = '';
  for (const piece of line) {
    const { text: raw, style } = typeof piece === 'string' ? { text: piece, style: undefined } : piece;
    const text = raw.replace(UNFIT, '?');
    if (text === '') continue;
    if (left <= 0) return painted;
    const shown = text.length > left ? `${text.slice(0, left - 1)}…` : text;
    painted += style && colour ? styleText(style, shown, { validateStream: false }) : shown;
    left -= shown.length;
    if (shown !== text) return painted;
  }
  return painted;
}

export function widthOf(line: Line): number {
  return line.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece : piece.text).length, 0);
}
