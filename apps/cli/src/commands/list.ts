import { Command } from 'commander';
import type { Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import type { Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { CRON_HEAD, cronRow, WIDE_HEAD, wideCronRow } from './cron-rows.js';
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
  const told = (width: number) => unreadable.flatMap((record) => hanging(unreadableLine(record), width));
  return {
    code: EXIT.ok,
    json: crons,
    text: (width) => [
      ...(none ? hanging(none, width) : table([CRON_HEAD, ...crons.map(cronRow)], width)),
      ...told(width),
    ],
    wide: (width) => [
      ...(none ? hanging(none, width) : table([WIDE_HEAD, ...crons.map(wideCronRow)], width)),
      ...told(width),
    ],
  };
}

async function nothing(deployment: Deployment): Promise<string> {
  const { prefix, tenant } = await deployment.place();
  return `No crons under the prefix "${prefix}" and the tenant "${tenant}": no worker has declared one here.`;
}

function unreadableLine({ name, reason }: { readonly name: string; readonly reason: string }): string {
  return `The record of ${name} is invalid, so it does not fire: ${reason} See fencepost doctor.`;
}
