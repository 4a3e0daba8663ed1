import { Command } from 'commander';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { MAX_GENERATIONS, wholeNumber, words } from '../option-values.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { movedReport } from './moved-report.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly reason: string;
  readonly expected?: number;
}

const ABOUT =
  'Removes a cron: it no longer fires; open runs continue, and its history is kept. A declared cron stays removed until a higher ' +
  'build declares it differently from the build before; "fencepost set" restores it. Fails (1) if it was ' +
  'changed since --expected; then nothing is changed.';

export function removeCommand({ world, answer }: Setting): Command {
  const command = new Command('remove')
    .summary('remove a cron')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option(
      '--expected <generation>',
      'only while this is its newest generation ("fencepost list --json")',
      wholeNumber(1, MAX_GENERATIONS),
    );
  return withOutput(withDeploymentOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { expected, reason } = flags;
    const order = { reason, ...(expected !== undefined && { expected }) };
    const reply = await withDeployment(flags, world, (deployment) => deployment.remove(cron, order));
    answer('by' in reply ? removedReport(cron, { ...reply, reason }) : movedReport(cron, reply), flags);
  });
}

function removedReport(cron: string, { by, reason }: { readonly by: string; readonly reason: string }): Report {
  const line = `${cron} is removed, by ${by}: ${reason}`;
  return {
    code: EXIT.ok,
    json: { cron, verdict: 'removed', by, reason },
    text: (width) => hanging(line, width),
  };
}
