import { Command } from 'commander';
import { UsageError } from '../exit.js';
import { parseSchedule } from '../jobs.js';
import type { LintedCron } from '../lint/finding.js';
import { lint } from '../lint/lint.js';
import { instant, wholeNumber } from '../option-values.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withCrons } from '../store/store.js';
import type { Setting, World } from '../world.js';
import { withJson } from './orders.js';
import { dstOf, scheduleOf, withScheduleOptions, type ScheduleFlags } from './schedule-options.js';

interface Flags extends ScheduleFlags, StoreFlags {
  readonly expression?: string;
  readonly from?: number;
  readonly threshold: number;
  readonly json?: boolean;
}

const ABOUT =
  'Looks for what may surprise: local times that clocks leave out or repeat within five years, many crons due at one ' +
  'instant within a week, crons that do the same, days that a month does not have. For one expression, or for every ' +
  'cron of a deployment. Fails (1) for what nobody has declared: a fixed time that is touched and has no "dst", and a ' +
  'crowd without "spread".';

export function lintCommand({ world, answer }: Setting): Command {
  const command = new Command('lint')
    .summary('what may surprise: clocks, crowds, duplicates')
    .description(ABOUT)
    .option('--expression <expression>', 'only this one; no store is asked')
    .option('--from <instant>', 'where to begin (default: now)', instant)
    .option('--threshold <n>', 'so many crons at one instant are a stampede', wholeNumber(2, 1_000_000), 10);
  return withJson(withStoreOptions(withScheduleOptions(command))).action(async (flags: Flags) => {
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
  if (tz !== 'UTC' || [dstGap, dstRepeat, seed, spread].some((flag) => flag !== undefined)) {
    throw new UsageError(
      'Expected --expression beside --tz, --dst-gap, --dst-repeat, --seed and --spread: the crons of a catalog have their own.',
    );
  }
  const { entries } = await withCrons(flags, world, ({ catalog }) => catalog.read());
  return entries.flatMap(({ state, definition }) => (state === 'firing' ? [definition] : []));
}
