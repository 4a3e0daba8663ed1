import { Command } from 'commander';
import { ownerPrefix } from '@fencepost/lease/internal';
import { refuseConsole } from '../deployment/console-address.js';
import { EXIT } from '../exit.js';
import { positiveDuration, words } from '../option-values.js';
import { iso, shortIso, type Report } from '../report.js';
import type { ShadowInterval } from '../jobs.js';
import { compare, type ComparedCron, type ComparedInstant } from '../shadow/compare.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends StoreFlags, OutputFlags {
  readonly late: number;
  readonly cron?: string;
}

const ABOUT =
  'Compares what @nestjs/schedule did with what Fencepost would have done, from the records of pods with JobsModule in ' +
  'shadow mode: each instant is the same, doubled, missed or late. The newest 100,000 records of at most 7 days count. ' +
  'Intervals are listed, and not compared. Fails (1) if an instant is not the same.';

export function shadowCommand({ world, answer }: Setting): Command {
  const report = new Command('report')
    .summary('what the old way did, instant by instant')
    .description(ABOUT)
    .option('--late <duration>', 'a run that began later than this is late', positiveDuration, 5_000)
    .option('--cron <name>', 'only this cron', words);
  withOutput(withStoreOptions(report)).action(async (flags: Flags) => {
    refuseConsole('shadow report', flags, world);
    const reading = await withStore(flags, world, ({ shadow }) => shadow.read());
    const isAsked = ({ name }: { readonly name: string }) => name === (flags.cron ?? name);
    const crons = compare(reading, { lateMs: flags.late }).filter(isAsked);
    answer(shadowReport(crons, reading.intervals.filter(isAsked)), flags);
  });
  return new Command('shadow').description('Shadow mode: @nestjs/schedule beside Fencepost.').addCommand(report);
}

const NONE =
  'No pod in shadow mode has recorded anything here. Import JobsModule.forRoot({ shadow: true, redis }) beside ScheduleModule.';
const SHOWN = 20;

/** Counted from the boot of a pod, an interval has no instants in common with that of another one. */
const INCOMPARABLE =
  'These intervals are not compared. An interval counts from the boot of each pod, and each pod runs it: N pods run it N times ' +
  'in its period. With the option "every", Fencepost runs it once.';

export function shadowReport(crons: readonly ComparedCron[], intervals: readonly ShadowInterval[]): Report {
  const isSame = crons.every(({ instants }) => instants.length === 0);
  return {
    code: isSame ? EXIT.ok : EXIT.finding,
    json: { crons: crons.map(jsonOf), notCompared: intervals },
    text: (width) => [
      ...(crons.length > 0 ? textOf(crons, width) : []),
      ...(crons.length > 0 && intervals.length > 0 ? [''] : []),
      ...(intervals.length > 0 ? intervalsText(intervals, width) : []),
      ...(crons.length + intervals.length === 0 ? hanging(NONE, width) : []),
    ],
  };
}

function intervalsText(intervals: readonly ShadowInterval[], width: number): string[] {
  const rows = intervals.map(({ name, everyMs }) => [name, everyMs === null ? 'added at run time' : `${everyMs} ms`]);
  return [...hanging(INCOMPARABLE, width), ...table([['INTERVAL', 'PERIOD'], ...rows], width)];
}

function jsonOf({ since, until, instants, ...cron }: ComparedCron) {
  return {
    ...cron,
    since: iso(since),
    until: iso(until),
    instants: instants.map((instant) => ({ ...instant, at: iso(instant.at) })),
  };
}

const HEAD = ['CRON', 'SCHEDULE', 'SAME', 'DOUBLED', 'MISSED', 'LATE', 'WATCHED (UTC)'];

function textOf(crons: readonly ComparedCron[], width: number): string[] {
  const rows = crons.map(({ name, expression, timeZone, counts, since, until }) => [
    ...[name, `${expression} ${timeZone}`, `${counts.same}`, `${counts.doubled}`, `${counts.missed}`, `${counts.late}`],
    `${shortIso(since)} to ${shortIso(until)}`,
  ]);
  const lines = crons.flatMap(({ name, instants }) => {
    const shown = instants.slice(-SHOWN).map((instant) => `${name} ${shortIso(instant.at)} ${sentence(instant)}`);
    const more = instants.length - shown.length;
    return more > 0 ? [`${name}: ${more} earlier ones; --json has them.`, ...shown] : shown;
  });
  return [
    ...table([HEAD, ...rows], width),
    ...(lines.length > 0 ? [''] : []),
    ...lines.flatMap((line) => hanging(line, width)),
  ];
}

function sentence({ verdict, ran, busy, would }: ComparedInstant): string {
  const pods = ran.map(({ pod, lateByMs }) => `${ownerPrefix(pod)} (+${lateByMs} ms)`).join(', ');
  const left = busy.length > 0 ? ` Left out while the run before went on: ${busy.map(ownerPrefix).join(', ')}.` : '';
  const instead = would === null ? '' : ` Fencepost: ${ownerPrefix(would)}.`;
  return `${verdict}: ${pods === '' ? 'no pod ran it' : `ran on ${pods}`}.${left}${instead}`;
}
