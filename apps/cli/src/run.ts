import { FencepostError, StoreAwayError } from '@fencepost/lease';
import { CommanderError } from 'commander';
import { EXIT, StoreError, AppError } from './exit.js';
import { ScheduleError } from './jobs.js';
import { program } from './program.js';
import type { Answer, World } from './world.js';

/** Does what a command line says, and answers the exit code. Never rejects. */
export async function run(args: readonly string[], world: World): Promise<number> {
  let code: number = EXIT.ok;
  const answer: Answer = (report, { json = false }) => {
    const lines = json ? [JSON.stringify(report.json)] : report.text(world.width);
    world.out(`${lines.join('\n')}\n`);
    code = report.code;
  };
  try {
    await program({ world, answer }).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return explain(error, world);
  }
}

/** One sentence, and never a stack: whoever typed the command can't do anything with it. */
function explain(error: unknown, { err }: World): number {
  if (error instanceof CommanderError) {
    // It has printed what it has to say by itself: the help, or the sentence.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  err(`${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof AppError) return EXIT.finding;
  if (error instanceof StoreError || error instanceof StoreAwayError) return EXIT.away;
  return error instanceof FencepostError || error instanceof ScheduleError ? EXIT.usage : EXIT.broken;
}
