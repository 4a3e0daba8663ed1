import { Option, type Command } from 'commander';
import type { World } from '../world.js';

export interface FormatFlags {
  readonly json?: boolean;
  readonly text?: boolean;
}

/** Text for a person at a terminal, one line of JSON for whatever else reads it; either can be asked for. */
export function withFormat(command: Command): Command {
  return command
    .addOption(
      new Option('--json', 'answer with one line of JSON (as it does where no terminal reads it)').conflicts('text'),
    )
    .option('--text', 'answer for a person, wherever it goes');
}

export function formatOf({ json = false, text = false }: FormatFlags, { terminal = false }: World): { json: boolean } {
  return { json: json || (!terminal && !text) };
}
