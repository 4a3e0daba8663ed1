import { styleText } from 'node:util';
import { eventSentence, type JournalEntry } from '../jobs.js';

export interface LineOptions {
  readonly colors: boolean;
}

const LEVEL_COLOR = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

/** What would move the cursor or change the colours of the terminal: whoever names a cron or throws an error could write it. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** One entry of the journal as a person reads it: when, how loud, who, what, of which cron, and what it carries. */
export function entryLine(entry: JournalEntry, { colors }: LineOptions): string {
  const paint: Paint = colors ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
  const { at, level, event, pod, cron } = entry;
  const color = LEVEL_COLOR[level] ?? 'gray';
  return [
    paint('gray', new Date(at).toISOString().slice(11, 23)),
    paint(color, shown(level).toUpperCase().padEnd(5)),
    paint('bold', shown(event).padEnd(20)),
    paint('cyan', shown(cron ?? '-')),
    eventSentence(event, entry.detail),
    paint('gray', ['', ...carried(entry), `pod=${shown(pod)}`].join(' ').trim()),
  ]
    .filter((part) => part !== '')
    .join('  ');
}

function carried({ runId, detail }: JournalEntry): string[] {
  const all = { ...(runId === null ? {} : { run: runId }), ...detail };
  return Object.entries(all).flatMap(([name, value]) => (value === null ? [] : `${shown(name)}=${valueText(value)}`));
}

function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[\w.:/@+-]+$/.test(value)) return value;
  return shown(JSON.stringify(value) ?? 'none');
}

function shown(text: string): string {
  return text.replace(CONTROLS, '·');
}
