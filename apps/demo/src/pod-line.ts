import { widthOf, type Line, type Piece, type Style } from './paint.js';
import type { PodState } from './pod.js';
import type { HeldLease, PodRow } from './scene.js';
import { count } from './words.js';

const STATES: Readonly<Record<PodState, Style>> = {
  starting: 'dim',
  up: 'green',
  frozen: 'cyan',
  killed: 'red',
  ended: 'red',
  restarting: 'magenta',
  stopping: 'dim',
  stopped: 'dim',
};

const WIDE = 100;

/** A lease as richly as there is room for: cells of its bar, digits of its fence. The last way is the name alone. */
const WAYS = [
  { bar: 10, digits: 6 },
  { bar: 5, digits: 6 },
  { bar: 4, digits: 4 },
  { bar: 4, digits: 0 },
  { bar: 0, digits: 0 },
] as const;

/** A pod: its state, and what it has at the moment. */
export function podLine({ pod, leases, running, ended }: PodRow, columns: number): Line {
  const head: Line = [
    { text: pod.name.padEnd(13), style: 'bold' },
    { text: pod.state.padEnd(11), style: STATES[pod.state] },
    { text: `pid ${pod.pid ?? '-'}`.padEnd(12), style: 'dim' },
    ...(columns >= WIDE ? [{ text: `port ${pod.port}`.padEnd(11), style: 'dim' as const }] : []),
  ];
  if (pod.role === 'worker')
    return [...head, { text: count(ended, 'run').padEnd(10), style: 'dim' }, running.join('  ')];
  return [...head, ...leaseLine(leases, columns - widthOf(head))];
}

function leaseLine(leases: readonly HeldLease[], room: number): Line {
  const lines = WAYS.map((way) => leases.flatMap((lease, index) => [index > 0 ? '  ' : '', ...cell(lease, way)]));
  return lines.find((line) => widthOf(line) <= room) ?? lines.at(-1) ?? [];
}

function cell({ cron, share, fence }: HeldLease, { bar, digits }: (typeof WAYS)[number]): Piece[] {
  // A lease that runs at all shows one cell; an empty bar is one that is over.
  const full = Math.ceil(share * bar);
  const pieces: Piece[] = [{ text: cron }];
  if (bar > 0) {
    pieces.push({ text: ` ${'▰'.repeat(full)}`, style: share < 0.5 ? 'magenta' : 'green' });
    pieces.push({ text: '▱'.repeat(bar - full), style: 'dim' });
  }
  if (digits > 0) pieces.push({ text: ` …${fence.toFixed(0).slice(-digits)}`, style: 'dim' });
  return pieces;
}
