import { lateBy, type Run } from '@fencepost/jobs';
import { MARKS } from './cron-line.js';
import type { Line } from './paint.js';
import type { RunRow } from './scene.js';
import { podOf } from './sight.js';
import { markOf } from './timeline.js';
import { count, runName, shortFence, span } from './words.js';

const HEADINGS = ['late', 'worker', 'try', 'fence', 'outcome'] as const;
const WIDTHS = [8, 9, 4, 9, 12] as const;
const TOTAL = WIDTHS.reduce((sum, width) => sum + width, 0);

/** The last runs as a table, with its heading. */
export function runTable(rows: readonly RunRow[], columns: number): Line[] {
  const names = rows.map(({ run }) => runName(run.cron, run.scheduledAt).length);
  const name = Math.max(10, ...names) + 1;
  const heading = row(['run, UTC', ...HEADINGS], name);
  return [[{ text: `${heading}effects`, style: 'dim' }], ...rows.map((each) => runLine(each, name, columns))];
}

/** A run: when, how late, by whom, under which fence, how it ended, and what it has written so far. */
function runLine({ run, effects }: RunRow, name: number, columns: number): Line {
  const lateMs = lateBy(run);
  const late = lateMs === null ? '' : span(lateMs);
  const cells = [
    runName(run.cron, run.scheduledAt),
    late,
    podOf(run.worker ?? ''),
    String(run.attempt),
    shortFence(run.fence),
  ];
  const written = effects.join(' ');
  const fits = written.length <= columns - name - TOTAL;
  return [
    row(cells, name),
    { text: outcomeOf(run).padEnd(WIDTHS[4]), style: MARKS[markOf(run)].style },
    { text: fits ? written : count(effects.length, 'effect'), style: 'dim' },
  ];
}

function outcomeOf({ state, skipped, attempt }: Run): string {
  if (state === 'skipped') return skipped ?? state;
  return state === 'enqueued' && attempt > 0 ? 'will retry' : state;
}

function row([first = '', ...cells]: readonly string[], name: number): string {
  const rest = cells.map((cell, index) => cell.slice(0, (WIDTHS[index] ?? 0) - 1).padEnd(WIDTHS[index] ?? 0));
  return first.padEnd(name) + rest.join('');
}
