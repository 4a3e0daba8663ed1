import { Command, Option } from 'commander';
import type { CronQuery, FoundCrons } from '../deployment/cron-query.js';
import type { Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { CRON_SORTS, CRON_STATES } from '../jobs.js';
import { withOutput, type OutputFlags } from '../output.js';
import { wholeNumber, words } from '../option-values.js';
import type { Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { CRON_HEAD, cronRow, WIDE_HEAD, wideCronRow } from './cron-rows.js';

interface Flags extends DeploymentFlags, OutputFlags, Omit<CronQuery, 'cursor'> {
  readonly failing?: boolean;
  readonly after?: string;
  readonly all?: boolean;
}

/** What a console answers at once. */
const USUAL = 500;
/** More are printed page after page. */
const MAX = 10_000;

export function listCommand({ world, answer }: Setting): Command {
  const command = new Command('list')
    .summary('all crons and their state')
    .description('Lists crons: schedule, state, next instant and last run.')
    .addOption(new Option('--state <state>', 'only crons in this state').choices(CRON_STATES).conflicts('failing'))
    .option('--failing', 'only crons whose last runs failed')
    .option('--tag <tag>', 'only crons with this tag', words)
    .option('--search <text>', 'only crons whose name, expression or owner contains this', words)
    .addOption(new Option('--sort <by>', 'their order').choices(CRON_SORTS).default('name'))
    .option('--limit <n>', 'maximum number; with --all of a page', wholeNumber(1, MAX), USUAL)
    .option('--after <cursor>', 'only what comes after the end of an earlier list', words)
    .option('--all', 'all of them, page after page; with -o json a line for each page');
  return withOutput(withDeploymentOptions(command)).action((flags: Flags) =>
    withDeployment(flags, world, async (deployment) => {
      const unread = world.unread?.();
      for (let cursor = flags.after; ;) {
        const { report, notes, next } = await list(deployment, queryOf(flags, cursor));
        for (const note of flags.all ? notes.slice(0, 0) : notes) world.err(`${note}\n`);
        await world.flushed?.();
        answer(report, flags);
        if (!flags.all || next === null || unread?.aborted) return;
        cursor = next;
      }
    }),
  );
}

function queryOf({ failing, state, tag, search, sort, limit }: Flags, cursor: string | undefined): CronQuery {
  const wanted = failing ? ('failing' as const) : state;
  const narrowed = {
    ...(tag !== undefined && { tag }),
    ...(search !== undefined && { search }),
    ...(cursor !== undefined && { cursor }),
  };
  return { sort, limit, ...(wanted !== undefined && { state: wanted }), ...narrowed };
}

interface Listed {
  readonly report: Report;
  readonly notes: readonly string[];
  readonly next: string | null;
}

async function list(deployment: Deployment, query: CronQuery): Promise<Listed> {
  const found = await deployment.crons(query);
  const { items, unreadable } = found;
  const none = items.length > 0 ? '' : await whyNone(deployment, query, unreadable.length);
  const lines = (head: readonly string[], row: typeof cronRow) => (width: number) => [
    ...(items.length === 0 ? hanging(none, width) : table([head, ...items.map(row)], width)),
    ...unreadable.flatMap((record) => hanging(unreadableLine(record), width)),
  ];
  const report = { code: EXIT.ok, json: items, text: lines(CRON_HEAD, cronRow), wide: lines(WIDE_HEAD, wideCronRow) };
  return { report, notes: notesOn(found), next: found.next };
}

/** What the list leaves out, said beside it: what is behind a pipe expects crons alone. */
function notesOn({ items, total, unread, next }: FoundCrons): string[] {
  const more = `${items.length} of ${total} crons: --all shows all of them, --after ${next} the next ones.`;
  const unknown = `${unread} crons are in an unknown state: their history has not been read yet. Repeat the command in a moment.`;
  return [...(next === null ? [] : [more]), ...(unread > 0 ? [unknown] : [])];
}

async function whyNone(deployment: Deployment, { state, tag, search }: CronQuery, invalid: number) {
  if ((state ?? tag ?? search) !== undefined) return 'No crons match. Leave out a filter.';
  if (invalid > 0) return 'No cron has a valid record.';
  const { prefix, tenant } = await deployment.place();
  return `No crons under the prefix "${prefix}" and the tenant "${tenant}": no worker has declared one here.`;
}

function unreadableLine({ name, reason }: { readonly name: string; readonly reason: string }): string {
  return `The record of ${name} is invalid, so it does not fire: ${reason} See fencepost doctor.`;
}
