import { Command, Option } from 'commander';
import type { Answers, Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { instant, positiveDuration, words } from '../option-values.js';
import { shortIso, type Report } from '../report.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { oneCron, orderMany, withBulkOptions, type BulkFlags } from './bulk.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags, BulkFlags {
  readonly reason: string;
  readonly for?: number;
  readonly until?: number;
}

const ABOUT =
  'Stops a cron, or all with a tag, from firing until it is resumed, or for some time. Open runs continue; its instants are recorded ' +
  'as skipped. Deployments do not end a pause.';

export function pauseCommand({ world, answer }: Setting): Command {
  const command = withBulkOptions(new Command('pause').summary('pause crons').description(ABOUT))
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .addOption(new Option('--for <duration>', 'duration, such as 2h').argParser(positiveDuration).conflicts('until'))
    .option('--until <instant>', 'until when', instant);
  return withOutput(withDeploymentOptions(withBy(command))).action(async (named: string | undefined, flags: Flags) => {
    const cron = oneCron(named, flags);
    const { reason, until, for: forMs, tag = '' } = flags;
    const order = { reason, ...(until !== undefined && { until }), ...(forMs !== undefined && { forMs }) };
    const pause = (deployment: Deployment) =>
      cron === null
        ? orderMany({ order: 'pause', tag, ...order }, flags, { deployment, world })
        : deployment.pause(cron, order).then((paused) => pausedReport(cron, paused));
    answer(await withDeployment(flags, world, pause), flags);
  });
}

function pausedReport(cron: string, pause: Answers['Pause']): Report {
  const end = pause.until === null ? 'until it is resumed' : `until ${shortIso(pause.until)}`;
  const line = `${cron} is paused ${end}, by ${pause.by}: ${pause.reason}`;
  return { code: EXIT.ok, json: { cron, ...pause }, text: (width) => hanging(line, width) };
}
