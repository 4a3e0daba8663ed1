import type { Line, Piece, Style } from './paint.js';
import type { CronRow } from './scene.js';
import type { Mark } from './timeline.js';

export const MARKS: Readonly<Record<Mark, { readonly sign: string; readonly style: Style; readonly says: string }>> = {
  succeeded: { sign: '●', style: 'green', says: 'succeeded' },
  running: { sign: '◐', style: 'cyan', says: 'running' },
  retried: { sign: '↻', style: 'magenta', says: 'retried' },
  skipped: { sign: '·', style: 'dim', says: 'skipped' },
  failed: { sign: '✕', style: 'red', says: 'failed' },
  waiting: { sign: '○', style: 'dim', says: 'waiting' },
};

const NAME = 16;
const EXPRESSION = 15;
const NEXT = 12;
const LEAST_MARKS = 10;

/** A cron with its last instants, the newest at the right end, so that the line moves like a tape. */
export function cronLine({ name, expression, marks, nextInMs }: CronRow, columns: number): Line {
  const room = Math.max(LEAST_MARKS, columns - NAME - EXPRESSION - NEXT);
  const shown = marks.slice(-room);
  const next = nextInMs === null ? '' : `  next ${Math.ceil(nextInMs / 1_000)} s`;
  return [
    { text: name.slice(0, NAME - 1).padEnd(NAME), style: 'bold' },
    { text: expression.slice(0, EXPRESSION - 1).padEnd(EXPRESSION), style: 'dim' },
    ' '.repeat(room - shown.length),
    ...shown.map((mark) => markPiece(mark)),
    { text: next, style: 'dim' },
  ];
}

function markPiece(mark: Mark): Piece {
  return { text: MARKS[mark].sign, style: MARKS[mark].style };
}

export function legend(): Line {
  return Object.values(MARKS).flatMap(({ sign, style, says }): Line => [
    { text: sign, style },
    { text: ` ${says}   `, style: 'dim' },
  ]);
}
