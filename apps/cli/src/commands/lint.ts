import { Command } from 'commander';
import { refuseConsole } from '../deployment/console-address.js';
import { UsageError } from '../exit.js';
import { parseSchedule } from '../jobs.js';
import type { LintedCron } from '../lint/finding.js';
import { lint } from '../lint/lint.js';
import { instant, wholeNumber } from '../option-values.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withCrons } from '../store/store.js';
import type { Setting, World } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';
import { dstOf, scheduleOf, withScheduleOptions, type ScheduleFlags } from './schedule-options.js';

interface Flags extends ScheduleFlags, StoreFlags, OutputFlags {
  readonly expression?: string;
  readonly from?: number;
  readonly threshold: number;
}

const ABOUT =
  'Finds surprises in schedules: local times that clock changes skip or repeat within five years, many crons due at one ' +
  'instant within a week, duplicate crons, days that a month does not have. For one expression, or for every ' +
  'cron of a deployment. Fails (1) for an affected fixed time without "dst", and for a ' +
  'stampede without "spread".';

export function lintCommand({ world, answer }: Setting): Command {
  const command = new Command('lint')
    .summary('find surprises: clock changes, stampedes, duplicates')
    .description(ABOUT)
    .option('--expression <expression>', 'check only this expression; needs no store')
    .option('--from <instant>', 'start time (default: now)', instant)
    .option(
      '--threshold <n>',
      'number of crons at one instant that counts as a stampede',
      wholeNumber(2, 1_000_000),
      10,
    );
  return withOutput(withStoreOptions(withScheduleOptions(command))).action(async (flags: Flags) => {
    const { expression, from = world.now(), threshold } = flags;
    const crons = expression === undefined ? await cronsOfCatalog(flags, world) : [single(expression, flags, from)];
    answer(lint({ crons, from, threshold }), flags);
  });
}

/** @throws {ScheduleError} what somebody has just typed is wrong, and not something to be found */
function single(expression: string, flags: ScheduleFlags, now: number): LintedCron {
  const { seed: name, ...text } = scheduleOf(expression, flags);
  parseSchedule({ ...text, seed: name }, now);
  const dst = dstOf(flags);
  const { timeZone, spreadMs } = text;
  return { name, expression, timeZone, ...(dst && { dst }), ...(spreadMs !== undefined && { spreadMs }) };
}

async function cronsOfCatalog(flags: Flags, world: World): Promise<LintedCron[]> {
  const { tz, dstGap, dstRepeat, seed, spread } = flags;
  if ([tz, dstGap, dstRepeat, seed, spread].some((flag) => flag !== undefined)) {
    throw new UsageError(
      '--expression is required with --tz, --dst-gap, --dst-repeat, --seed and --spread: the crons of a catalog have their own.',
    );
  }
  refuseConsole('lint', flags, world);
  const { entries } = await withCrons(flags, world, ({ view }) => view.read());
  return entries.flatMap(({ state, definition }) => (state === 'active' ? [definition] : []));
}
