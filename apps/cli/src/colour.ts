import { stripVTControlCharacters, styleText } from 'node:util';
import type { World } from './world.js';

type Style = Parameters<typeof styleText>[0];

/** Whether colours reach a person: at a terminal, unless NO_COLOR says no; FORCE_COLOR says yes everywhere. */
export function isColourful({ env, terminal = false }: Pick<World, 'env' | 'terminal'>): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused } = env;
  if (forced !== undefined && forced !== '') return !/^(0|false)$/.test(forced);
  return terminal && !refused && env['TERM'] !== 'dumb';
}

const TONES: readonly (readonly [Style, RegExp])[] = [
  [
    'red',
    /^(failed|failing|missed|standstill|stands still|uncertain|unexplained|doubled|UNSAFE|BAD|CONFLICT|!!|error)\b|^!!$/,
  ],
  [
    'yellow',
    /^(late|paused|skipped|orphaned|retried|no-worker|never-succeeded|not covered|WARN|cancelled|cancelling|warn)\b|^!$/,
  ],
  ['green', /^(succeeded|healthy|active|running|safe|ran|ok|info)\b/],
  ['gray', /^(removed|disabled|unknown|debug|NOTE)\b/],
];

export const paint = (style: Style, text: string): string => styleText(style, text, { validateStream: false });

/** A state in its colour; whoever prints takes it away where colours do not reach a person. */
export function toned(state: string): string {
  const [style] = TONES.find(([, states]) => states.test(state)) ?? [];
  return style === undefined ? state : paint(style, state);
}

/** Columns of a terminal that a text takes. */
export function widthOf(text: string): number {
  return text.includes('\u001B') ? stripVTControlCharacters(text).length : text.length;
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}
