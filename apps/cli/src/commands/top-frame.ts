import { stripVTControlCharacters } from 'node:util';
import { paint, toned, widthOf } from '../colour.js';
import type { Answers } from '../deployment/deployment.js';
import { shortIso } from '../report.js';
import { table } from '../table.js';
import { CRON_HEAD, cronRow, stateOf } from './cron-rows.js';

/** What one look has found, the worst crons first. */
export interface Seen {
  /** Epoch milliseconds of this machine. */
  readonly at: number;
  readonly prefix: string;
  readonly tenant: string;
  readonly pods: readonly Answers['Pod'][];
  readonly crons: readonly Answers['CronSummary'][];
  /** Why nothing newer is known. */
  readonly trouble?: string;
}

interface Size {
  readonly rows: number;
  readonly columns: number;
  readonly isPlain: boolean;
}

/** As many rows as the terminal has: the header always, and of the crons what fits below it. */
export function frameOf(seen: Seen, { rows, columns, isPlain }: Size): string[] {
  const [head, list] = [headOf(seen, ' · q quits'), cronLines(seen)];
  const rowsLeft = Math.max(0, rows - head.length);
  const more = list.length - 1 - (rowsLeft - 2);
  const shown = list.length <= rowsLeft ? list : [...list.slice(0, Math.max(0, rowsLeft - 1)), `… ${more} more crons`];
  const lines = [...head, ...shown].slice(0, rows).map((line) => cut(line, columns));
  return isPlain ? lines.map(stripVTControlCharacters) : lines;
}

/** All of it, for a pipe. */
export function linesOf(seen: Seen, width: number): string[] {
  return [...headOf(seen, ''), ...cronLines(seen)].map((line) => cut(line, width));
}

function headOf(seen: Seen, hint: string): string[] {
  const { at, prefix, tenant, trouble } = seen;
  const place = `${paint('bold', 'fencepost')}  prefix ${prefix}, tenant ${tenant}`;
  const when = trouble === undefined ? shortIso(at) : paint('red', `NOT UP TO DATE, as of ${shortIso(at)}: ${trouble}`);
  return [`${place} · ${when}${hint}`, totals(seen), podsLine(seen), ''];
}

function totals({ crons }: Seen): string {
  const counts = new Map<string, number>();
  for (const cron of crons) counts.set(stateOf(cron), (counts.get(stateOf(cron)) ?? 0) + 1);
  const each = [...counts].map(([state, count]) => toned(`${state} ${count}`));
  return [`${crons.length} crons`, ...each].join(' · ');
}

function podsLine({ pods }: Seen): string {
  const each = pods.map(({ pod, held, running }) => {
    const load = [...(held === null ? [] : [`${held} leases`]), ...(running === null ? [] : [`${running} running`])];
    return `${pod} ${load.join(', ')}`.trim();
  });
  return [pods.length === 0 ? paint('red', 'no pod has reported recently') : `${pods.length} pods`, ...each].join(
    ' · ',
  );
}

function cronLines({ crons }: Seen): string[] {
  return table([CRON_HEAD, ...crons.map(cronRow)], Infinity);
}

const COLOUR = new RegExp(`(${String.fromCodePoint(27)}\\[[\\d;]*m)`);

/** The escape sequences of its colours take no width. */
function cut(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let left = columns - 1;
  const parts = line.split(COLOUR).map((part, n) => {
    if (n % 2 === 1) return part;
    const shown = part.slice(0, left);
    left -= shown.length;
    return shown;
  });
  return `${parts.join('')}…`;
}
