import type { Command } from 'commander';
import { words } from '../option-values.js';
import type { OutputFlags } from '../output.js';

export interface OrderFlags extends OutputFlags {
  readonly by?: string;
}

/** Every order is kept with who gave it. */
export function withBy(command: Command): Command {
  return command.option(
    '--by <who>',
    'who orders it (default: the login name; with --url the name of the token)',
    words,
  );
}
