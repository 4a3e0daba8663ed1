import { Command, Option } from 'commander';
import type { Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { withOutput, type OutputFlags } from '../output.js';
import { words } from '../option-values.js';
import type { Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { CRON_HEAD, cronRow, fitting, SORTS, STATES, WIDE_HEAD, wideCronRow, type CronQuery } from './cron-rows.js';

interface Flags extends DeploymentFlags, OutputFlags, CronQuery {}

export function listCommand({ world, answer }: Setting): Command {
  const command = new Command('list')
    .summary('all crons and their state')
    .description('Lists crons: schedule, state, next instant and last run. Without a filter all of them.')
    .addOption(new Option('--state <state>', 'only crons in this state').choices(STATES))
    .option('--failing', 'only crons whose last runs failed')
    .option('--tag <tag>', 'only crons with this tag', words)
    .option('--search <text>', 'only crons whose name or expression contains this', words)
    .addOption(new Option('--sort <by>', 'their order').choices(Object.keys(SORTS)).default('name'));
  return withOutput(withDeploymentOptions(command)).action(async (flags: Flags) => {
    answer(await withDeployment(flags, world, (deployment) => list(deployment, flags)), flags);
  });
}

async function list(deployment: Deployment, query: CronQuery): Promise<Report> {
  const { items, unreadable } = await deployment.crons();
  const crons = fitting(items, query);
  const none = await whyNone(deployment, { known: items.length, invalid: unreadable.length });
  const lines = (head: readonly string[], row: typeof cronRow) => (width: number) => [
    ...(crons.length === 0 ? hanging(none, width) : table([head, ...crons.map(row)], width)),
    ...unreadable.flatMap((record) => hanging(unreadableLine(record), width)),
  ];
  return { code: EXIT.ok, json: crons, text: lines(CRON_HEAD, cronRow), wide: lines(WIDE_HEAD, wideCronRow) };
}

async function whyNone(deployment: Deployment, { known, invalid }: Record<'known' | 'invalid', number>) {
  if (known > 0) return 'No crons match. Leave out a filter.';
  if (invalid > 0) return 'No cron has a valid record.';
  const { prefix, tenant } = await deployment.place();
  return `No crons under the prefix "${prefix}" and the tenant "${tenant}": no worker has declared one here.`;
}

function unreadableLine({ name, reason }: { readonly name: string; readonly reason: string }): string {
  return `The record of ${name} is invalid, so it does not fire: ${reason} See fencepost doctor.`;
}
