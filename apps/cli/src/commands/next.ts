import { Command } from 'commander';
import { instant, wholeNumber } from '../option-values.js';
import { next } from '../time/next.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';
import { scheduleOf, withScheduleOptions, type ScheduleFlags } from './schedule-options.js';

interface Flags extends ScheduleFlags, OutputFlags {
  readonly from?: number;
  readonly count: number;
}

const MAX = 100_000;

export function nextCommand({ world, answer }: Setting): Command {
  const command = new Command('next')
    .summary('the next instants of an expression')
    .description('Shows the next instants of an expression, and how clock changes affect them. Needs no store.')
    .argument('<expression>', 'cron expression of 5 or 6 fields, or an interval such as "@every 30s", in quotes')
    .option('--from <instant>', 'start time (default: now)', instant)
    .option('-n, --count <n>', 'how many', wholeNumber(1, MAX), 5);
  return withOutput(withScheduleOptions(command)).action((expression: string, flags: Flags) => {
    const schedule = scheduleOf(expression, flags);
    answer(next({ schedule, from: flags.from ?? world.now(), count: flags.count }), flags);
  });
}
