import { FencepostError, StoreAwayError } from '@fencepost/lease';
import { CommanderError } from 'commander';
import { EXIT, StoreError, AppError } from './exit.js';
import { ScheduleError } from './jobs.js';
import { printed } from './output.js';
import { program } from './program.js';
import type { Answer, World } from './world.js';

/** Does what a command line says, and answers the exit code. Never rejects. */
export async function run(args: readonly string[], world: World): Promise<number> {
  let code: number = EXIT.ok;
  const answer: Answer = (report, flags) => {
    world.out(printed(report, flags, world));
    code = report.code;
  };
  try {
    await program({ world, answer }).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return explain(error, world);
  }
}

/** After the sentence of what was not found. */
const LISTS: Readonly<Record<string, string>> = {
  CRON_UNKNOWN: ' Run "fencepost list".',
  RUN_UNKNOWN: ' Run "fencepost runs <cron>".',
};

function whereToLook(error: unknown): string {
  const { code, problem = code, message } = Object(error) as { code?: unknown; problem?: unknown; message?: unknown };
  return / not found[.:]/.test(String(message)) ? (LISTS[String(problem)] ?? '') : '';
}

/** One sentence, and never a stack: whoever typed the command can't do anything with it. */
function explain(error: unknown, { err }: World): number {
  if (error instanceof CommanderError) {
    // It has printed what it has to say by itself: the help, or the sentence.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  err(`${error instanceof Error ? error.message : String(error)}${whereToLook(error)}\n`);
  if (error instanceof AppError) return EXIT.finding;
  if (error instanceof StoreError || error instanceof StoreAwayError) return EXIT.away;
  return error instanceof FencepostError || error instanceof ScheduleError ? EXIT.usage : EXIT.broken;
}
