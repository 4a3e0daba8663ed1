import { Command } from 'commander';
import { ownerPrefix } from '@fencepost/lease/internal';
import { refuseConsole } from '../deployment/console-address.js';
import { EXIT } from '../exit.js';
import { positiveDuration, words } from '../option-values.js';
import { iso, shortIso, type Report } from '../report.js';
import { compare, type ComparedCron, type ComparedInstant } from '../shadow/compare.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { withJson, type JsonFlags } from './orders.js';

interface Flags extends StoreFlags, JsonFlags {
  readonly late: number;
  readonly cron?: string;
}

const ABOUT =
  'Compares what @nestjs/schedule did with what Fencepost would have done, from the records of pods with JobsModule in ' +
  'shadow mode: each instant is the same, doubled, missed or late. The newest 100,000 records of at most 7 days count. ' +
  'Fails (1) if an instant is not the same.';

export function shadowCommand({ world, answer }: Setting): Command {
  const report = new Command('report')
    .summary('what the old way did, instant by instant')
    .description(ABOUT)
    .option('--late <duration>', 'a run that began later than this is late', positiveDuration, 5_000)
    .option('--cron <name>', 'only this cron', words);
  withJson(withStoreOptions(report)).action(async (flags: Flags) => {
    refuseConsole('shadow report', flags, world);
    const reading = await withStore(flags, world, ({ shadow }) => shadow.read());
    const crons = compare(reading, { lateMs: flags.late }).filter(({ name }) => name === (flags.cron ?? name));
    answer(shadowReport(crons), flags);
  });
  return new Command('shadow').description('Shadow mode: @nestjs/schedule beside Fencepost.').addCommand(report);
}

const NONE =
  'No pod in shadow mode has recorded anything here. Import JobsModule.forRoot({ shadow: true, redis }) beside ScheduleModule.';
const SHOWN = 20;

export function shadowReport(crons: readonly ComparedCron[]): Report {
  const isSame = crons.every(({ instants }) => instants.length === 0);
  return {
    code: isSame ? EXIT.ok : EXIT.finding,
    json: { crons: crons.map(jsonOf) },
    text: (width) => (crons.length === 0 ? hanging(NONE, width) : textOf(crons, width)),
  };
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
