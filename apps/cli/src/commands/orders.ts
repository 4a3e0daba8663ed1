import type { Command } from 'commander';
import { words } from '../option-values.js';
import { iso } from '../report.js';
import type { Pause, Run } from '../jobs.js';
import type { World } from '../world.js';

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
  return command.option('--by <who>', 'who orders it (default: the login name)', words);
}

export function asker({ by }: OrderFlags, { user }: World): string {
  return by ?? user();
}

export function pauseJson({ since, until, by, reason }: Pause): object {
  return { since: iso(since), until: iso(until), by, reason };
}

export function runJson({ id, state, reason, skipped, scheduledAt, attempt, worker, finishedAt, error }: Run): object {
  return {
    id,
    state,
    reason,
    skipped,
    scheduledAt: iso(scheduledAt),
    attempt,
    worker,
    finishedAt: iso(finishedAt),
    error,
  };
}
