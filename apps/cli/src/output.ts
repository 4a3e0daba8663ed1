import { stripVTControlCharacters } from 'node:util';
import { Option, type Command } from 'commander';
import { isColourful } from './colour.js';
import { FORMATS, type OutputFlags, type Report } from './report.js';

export type { OutputFlags } from './report.js';
import type { World } from './world.js';

/** The same for every command, at a terminal and in a pipe. */
export function withOutput(command: Command): Command {
  const output = new Option('-o, --output <format>', 'table (default), wide, json (one line), or name (one per line)');
  return command
    .addOption(output.choices(FORMATS))
    .addOption(new Option('--json', 'the same as -o json').conflicts('output'));
}

export function isJson({ output, json = false }: OutputFlags): boolean {
  return json || output === 'json';
}

/** What is written to stdout. */
export function printed(report: Report, flags: OutputFlags, world: Pick<World, 'width' | 'env' | 'terminal'>): string {
  if (isJson(flags)) return `${JSON.stringify(report.json)}\n`;
  if (flags.output === 'name') return (report.names ?? namesIn(report.json)).map((name) => `${name}\n`).join('');
  const { text, wide = text } = report;
  const lines = `${(flags.output === 'wide' ? wide : text)(world.width).join('\n')}\n`;
  const readable = lines.replace(TURNS_TEXT, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
  return isColourful(world) ? readable : stripVTControlCharacters(readable);
}

/** Embeddings, overrides and isolates of bidirectional text: within a reason they turn around what follows on the line. */
const TURNS_TEXT = /[\u202a-\u202e\u2066-\u2069]/g;

/** Under which a thing is known, the most exact first. */
const KEYS = ['runId', 'id', 'cron', 'job', 'name', 'pod', 'resource', 'code', 'subject'];

/** The names of what an answer is about: its own, or else those of what it lists. */
export function namesIn(json: unknown): string[] {
  if (typeof json === 'string') return [json];
  if (Array.isArray(json)) return [...new Set(json.flatMap(namesIn))];
  if (typeof json !== 'object' || json === null) return [];
  const own = KEYS.map((key): unknown => Reflect.get(json, key)).find((name) => typeof name === 'string');
  if (typeof own === 'string') return [own];
  const { run } = json as { run?: unknown };
  return run === undefined ? namesIn(Object.values(json).filter(Array.isArray).flat()) : namesIn(run);
}
