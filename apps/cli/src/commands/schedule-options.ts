import { Option, type Command } from 'commander';
import { UsageError } from '../exit.js';
import type { DstRule, ScheduleText } from '../jobs.js';
import { positiveDuration } from '../option-values.js';

/** Whose clock a schedule goes by, and what becomes of a time where it changes. */
export interface ZoneFlags {
  /** Default: UTC. */
  readonly tz?: string;
  readonly dstGap?: DstRule['gap'];
  readonly dstRepeat?: DstRule['repeat'];
}

export interface ScheduleFlags extends ZoneFlags {
  readonly seed?: string;
  readonly spread?: number;
}

export function withZoneOptions(command: Command): Command {
  const gap = new Option('--dst-gap <rule>', 'a fixed time that does not exist (default: next-valid)');
  const repeat = new Option('--dst-repeat <rule>', 'a fixed time that comes twice (default: first)');
  return command
    .option('--tz <zone>', 'IANA time zone (default: UTC)')
    .addOption(gap.choices(['next-valid', 'skip', 'shift']))
    .addOption(repeat.choices(['first', 'last', 'both']));
}

export function withScheduleOptions(command: Command): Command {
  return withZoneOptions(command)
    .option('--seed <name>', 'name of the cron, from which H and the spread are computed')
    .option('--spread <duration>', 'window over which crons with the same schedule are spread', positiveDuration);
}

/** @throws {UsageError} where a name is needed and none was given */
export function scheduleOf(expression: string, flags: ScheduleFlags): ScheduleText {
  const { tz = 'UTC', seed, spread } = flags;
  const needsName = spread !== undefined || /(^|[\s,])H/.test(expression);
  if (needsName && seed === undefined) {
    throw new UsageError('--seed with the name of the cron is required: H and --spread are computed from it.');
  }
  const dst = dstOf(flags);
  return {
    ...{ expression, timeZone: tz, seed: seed ?? 'cron' },
    ...(dst && { dst }),
    ...(spread !== undefined && { spreadMs: spread }),
  };
}

/** `undefined`: nobody has said anything. */
export function dstOf({ dstGap, dstRepeat }: ZoneFlags): DstRule | undefined {
  if (dstGap === undefined && dstRepeat === undefined) return undefined;
  return { gap: dstGap ?? 'next-valid', repeat: dstRepeat ?? 'first' };
}
