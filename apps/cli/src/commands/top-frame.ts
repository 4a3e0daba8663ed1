import { stripVTControlCharacters } from 'node:util';
import { paint, toned, widthOf } from '../colour.js';
import type { Attention } from '../deployment/cron-query.js';
import type { Answers } from '../deployment/deployment.js';
import { shortIso } from '../report.js';
import { table } from '../table.js';
import { CRON_HEAD, cronRow } from './cron-rows.js';

/** How many crons there are, and how many of them are in which state. */
type Totals = Readonly<Record<string, number>> & { readonly total: number };

export function totalsOf({ counts, triage: { items, unread } }: Pick<Attention, 'counts' | 'triage'>): Totals {
  const { total, paused, disabled, removed } = counts;
  const troubles = items.flatMap(({ kind, count }) => (kind === 'finding' ? [] : [[kind, count] as const]));
  return { total, ...Object.fromEntries(troubles), paused, disabled, removed, unknown: unread };
}

/** What one look has found, the worst crons first. */
export interface Seen {
  /** Epoch milliseconds of this machine. */
  readonly at: number;
  readonly prefix: string;
  readonly tenant: string;
  readonly pods: readonly Answers['Pod'][];
  readonly unreported: Answers['PodList']['unreported'];
  readonly crons: Attention['crons'];
  readonly totals: Totals;
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
  const lines = [...head, ...within(rows - head.length, list, seen)].slice(0, rows).map((line) => cut(line, columns));
  return isPlain ? lines.map(stripVTControlCharacters) : lines;
}

/** All that was read, for a pipe. */
export function linesOf(seen: Seen, width: number): string[] {
  return [...headOf(seen, ''), ...within(Infinity, cronLines(seen), seen)].map((line) => cut(line, width));
}

/** The first lines of the list, and how many crons are not among them. */
function within(rows: number, list: readonly string[], { totals: { total } }: Seen): readonly string[] {
  if (list.length <= rows && list.length > total) return list;
  const shown = list.slice(0, Math.max(0, rows - 1));
  return [...shown, `… ${total - Math.max(0, shown.length - 1)} more crons`];
}

function headOf(seen: Seen, hint: string): string[] {
  const { at, prefix, tenant, trouble } = seen;
  const place = `${paint('bold', 'fencepost')}  prefix ${prefix}, tenant ${tenant}`;
  const when = trouble === undefined ? shortIso(at) : paint('red', `NOT UP TO DATE, as of ${shortIso(at)}: ${trouble}`);
  return [`${place} · ${when}${hint}`, lineOf(seen.totals), podsLine(seen), ''];
}

function lineOf({ total, ...states }: Totals): string {
  const each = Object.entries(states).flatMap(([state, count]) => (count > 0 ? [toned(`${state} ${count}`)] : []));
  return [`${total} crons`, ...each].join(' · ');
}

function podsLine({ pods, unreported }: Seen): string {
  const each = pods.map(({ pod, held, running }) => {
    const load = [...(held === null ? [] : [`${held} leases`]), ...(running === null ? [] : [`${running} running`])];
    return `${pod} ${load.join(', ')}`.trim();
  });
  const none = unreported?.length === 0 ? paint('red', 'no pod is live') : 'no pod reports';
  const others = unreported?.length ? [`${unreported.length} live without a report`] : [];
  return [pods.length === 0 ? none : `${pods.length} pods`, ...each, ...others].join(' · ');
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
