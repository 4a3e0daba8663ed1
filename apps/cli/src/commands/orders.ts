import type { Command } from 'commander';
import { words } from '../option-values.js';

export interface JsonFlags {
  readonly json?: boolean;
}

export interface OrderFlags extends JsonFlags {
  readonly by?: string;
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print one line of JSON');
}

/** Every order is kept with who gave it. */
export function withBy(command: Command): Command {
  return command.option(
    '--by <who>',
    'who orders it (default: the login name; with --url the name of the token)',
    words,
  );
}
