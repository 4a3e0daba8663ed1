import { Command } from 'commander';
import type { Answers, Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { shortIso, type Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OutputFlags {
  readonly tag?: string;
}

export function listCommand({ world, answer }: Setting): Command {
  const command = new Command('list')
    .summary('all crons and their state')
    .description('Lists all crons: schedule, next instant and last run.')
    .option('--tag <tag>', 'only crons with this tag');
  return withOutput(withDeploymentOptions(command)).action(async (flags: Flags) => {
    answer(await withDeployment(flags, world, (deployment) => list(deployment, flags)), flags);
  });
}

async function list(deployment: Deployment, { tag }: Flags): Promise<Report> {
  const { items, unreadable } = await deployment.crons();
  const crons = tag === undefined ? items : items.filter(({ tags }) => tags.includes(tag));
  const none = items.length + unreadable.length === 0 ? await nothing(deployment) : '';
  return {
    code: EXIT.ok,
    json: crons,
    text: (width) => {
      const listed = none
        ? hanging(none, width)
        : table([['CRON', 'SCHEDULE', 'ZONE', 'STATE', 'NEXT (UTC)', 'LAST RUN'], ...crons.map(row)], width);
      return [...listed, ...unreadable.flatMap((record) => hanging(unreadableLine(record), width))];
    },
  };
}

async function nothing(deployment: Deployment): Promise<string> {
  const { prefix, tenant } = await deployment.place();
  return `No crons under the prefix "${prefix}" and the tenant "${tenant}": no worker has declared one here.`;
}

function unreadableLine({ name, reason }: { readonly name: string; readonly reason: string }): string {
  return `The record of ${name} is invalid, so it does not fire: ${reason} See fencepost doctor.`;
}

function row({ name, expression, timeZone, state, next, paused, last }: Answers['CronSummary']): string[] {
  const ran =
    last === null
      ? '-'
      : `${last.state}${last.skipped === null ? '' : ` (${last.skipped})`} ${shortIso(last.scheduledAt)}`;
  return [name, expression, timeZone, paused ? 'paused' : state, next === null ? '-' : shortIso(next), ran];
}
