import { Command } from 'commander';
import { EXIT } from '../exit.js';
import type { CronOverview } from '../jobs.js';
import { iso, shortIso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withCrons, type Store } from '../store/store.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { pauseJson, runJson, withJson, type JsonFlags } from './orders.js';

interface Flags extends StoreFlags, JsonFlags {}

export function listCommand({ world, answer }: Setting): Command {
  const command = new Command('list')
    .summary('all crons and their state')
    .description('Lists all crons: schedule, next instant and last run.');
  return withJson(withStoreOptions(command)).action(async (flags: Flags) => {
    answer(await withCrons(flags, world, list), flags);
  });
}

async function list({ operator, catalog, prefix, tenant }: Store): Promise<Report> {
  const [crons, { unreadable = [] }] = await Promise.all([operator.list(), catalog.read()]);
  return {
    code: EXIT.ok,
    json: crons.map(cronJson),
    text: (width) => {
      const none = `No crons under the prefix "${prefix}" and the tenant "${tenant}": no worker has declared one here.`;
      const listed =
        crons.length + unreadable.length === 0
          ? hanging(none, width)
          : table([['CRON', 'SCHEDULE', 'ZONE', 'STATE', 'NEXT (UTC)', 'LAST RUN'], ...crons.map(row)], width);
      return [...listed, ...unreadable.flatMap((record) => hanging(unreadableLine(record), width))];
    },
  };
}

function unreadableLine({ name, reason }: { readonly name: string; readonly reason: string }): string {
  return `The record of ${name} is invalid, so it does not fire: ${reason} See fencepost doctor.`;
}

function cronJson(cron: CronOverview): object {
  const { since, next, cursor, paused, last } = cron;
  return {
    ...cron,
    ...{ since: iso(since), next: iso(next), cursor: iso(cursor) },
    paused: paused && pauseJson(paused),
    last: last && runJson(last),
  };
}

function row({ name, expression, timeZone, state, next, paused, last }: CronOverview): string[] {
  const ran =
    last === null
      ? '-'
      : `${last.state}${last.skipped === null ? '' : ` (${last.skipped})`} ${shortIso(last.scheduledAt)}`;
  return [name, expression, timeZone, paused ? 'paused' : state, next === null ? '-' : shortIso(next), ran];
}
