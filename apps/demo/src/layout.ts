import { WORKERS, SCHEDULERS } from './pod.js';
import { cronLine, legend } from './cron-line.js';
import type { Happening } from './happening.js';
import { paint, type Line, type Piece } from './paint.js';
import { podLine } from './pod-line.js';
import { runTable } from './run-table.js';
import type { Scene } from './scene.js';
import type { Tally } from './tally.js';
import { span, timeOfDay } from './words.js';

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

/** Below this height every line is needed, and none is spent on air. */
const AIRY_ROWS = 30;

const MOST_NEWS = 10;

/**
 * The whole view as lines, none wider than the screen and never more than it has rows: a pure function, so that a test can
 * measure every line of it.
 */
export function layout(scene: Scene, screen: Screen): string[] {
  const { columns, rows, colour } = screen;
  const air: Line[] = rows >= AIRY_ROWS ? [[]] : [];
  const above = [
    ...heading(scene),
    ...air,
    ...scene.pods.map((row) => podLine(row, columns)),
    ...air,
    ...scene.crons.map((row) => cronLine(row, columns)),
    legend(),
    ...air,
  ];
  const below: Line[] = [...totals(scene.tally), [{ text: scene.status, style: 'bold' }]];
  const room = Math.max(0, rows - above.length - below.length - air.length);
  const news = newsLines(scene, columns, Math.min(MOST_NEWS, Math.ceil(room / 2)));
  const runs = runLines(scene, room - news.length, columns);
  const lines = [...above, ...runs, ...air, ...news, ...below];
  return lines.slice(-rows).map((line) => paint(line, columns, colour));
}

function heading({ redis, access, logs, pods }: Scene): Line[] {
  const ports = pods.filter(({ pod }) => pod.role === 'scheduler').map(({ pod }) => pod.port);
  const [first, ...others] = ports;
  const also = others.map((port) => `, :${port}`).join('');
  return [
    [
      { text: 'Fencepost', style: 'bold' },
      `  each scheduled instant accepted once · ${SCHEDULERS} schedulers, ${WORKERS} workers`,
    ],
    [{ text: `logs ${logs} · Redis ${redis}`, style: 'dim' }],
    [{ text: access, style: 'dim' }],
    [
      { text: 'Look at ', style: 'dim' },
      ...(first === undefined ? [] : [{ text: `http://127.0.0.1:${first}/crons/`, style: 'cyan' as const }]),
      { text: `${also} · also /queues, /metrics`, style: 'dim' },
    ],
  ];
}

function runLines({ runs }: Scene, room: number, columns: number): Line[] {
  if (room < 2) return Array.from({ length: room }, (): Line => []);
  const shown = runTable(runs.slice(0, room - 1), columns);
  return [...shown, ...Array.from({ length: room - shown.length }, (): Line => [])];
}

/** The newest last, and none of them in half. */
function newsLines({ news }: Scene, columns: number, room: number): Line[] {
  let shown: Line[] = [];
  for (const happening of news.toReversed()) {
    const lines = sentence(happening, columns);
    if (shown.length + lines.length > room) return shown;
    shown = [...lines, ...shown];
  }
  return shown;
}

/** What came of a blow is the point of its sentence, so it is never cut off, and begins a line where one isn't enough. */
function sentence({ at, kind, text }: Happening, columns: number): Line[] {
  const style = kind === 'chaos' ? 'magenta' : kind === 'refusal' ? 'cyan' : 'dim';
  const time = `${timeOfDay(at)} `;
  const room = columns - time.length;
  const parts = text.length > room ? text.split(/ (?=→)/).flatMap((part) => wrap(part, room)) : [text];
  return parts.map((part, index) => [
    { text: index === 0 ? time : ' '.repeat(time.length), style: 'dim' },
    { text: part, style },
  ]);
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function totals(tally: Tally): Line[] {
  const { skipped, lateMsP50, lateMsP99 } = tally;
  const late = lateMsP50 === null ? '' : ` · late p50 ${span(lateMsP50)}, p99 ${span(lateMsP99 ?? 0)}`;
  return [
    [
      `occurrences ${tally.occurrences} · runs ${tally.runs} · `,
      verdict('duplicates', tally.duplicates),
      ' · ',
      verdict('missed', tally.lost),
      ` · retried ${tally.retried} · waiting ${tally.waiting}`,
    ],
    [
      `stale refused ${tally.staleRejected} · takeovers ${tally.takeovers}`,
      ` · skipped ${Object.values(skipped).reduce((total, n) => total + n, 0)}${late}`,
    ],
  ];
}

function verdict(word: string, n: number): Piece {
  return { text: `${word} ${n}`, style: n === 0 ? 'green' : 'red' };
}
