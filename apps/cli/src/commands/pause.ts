import { Command, Option } from 'commander';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { instant, positiveDuration, words } from '../option-values.js';
import { shortIso } from '../report.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly reason: string;
  readonly for?: number;
  readonly until?: number;
}

const ABOUT =
  'Stops a cron from firing until it is resumed, or for some time. Open runs continue; its instants are recorded ' +
  'as skipped. Deployments do not end a pause.';

export function pauseCommand({ world, answer }: Setting): Command {
  const command = new Command('pause')
    .summary('pause a cron')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .addOption(new Option('--for <duration>', 'duration, such as 2h').argParser(positiveDuration).conflicts('until'))
    .option('--until <instant>', 'until when', instant);
  return withOutput(withDeploymentOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { reason, until, for: forMs } = flags;
    const order = { reason, ...(until !== undefined && { until }), ...(forMs !== undefined && { forMs }) };
    const pause = await withDeployment(flags, world, (deployment) => deployment.pause(cron, order));
    const end = pause.until === null ? 'until it is resumed' : `until ${shortIso(pause.until)}`;
    const line = `${cron} is paused ${end}, by ${pause.by}: ${pause.reason}`;
    answer({ code: EXIT.ok, json: { cron, ...pause }, text: (width) => hanging(line, width) }, flags);
  });
}
