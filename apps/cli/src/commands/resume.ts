import { Command, Option } from 'commander';
import type { Answers, Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { words } from '../option-values.js';
import { shortIso, type Report } from '../report.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { oneCron, orderMany, withBulkOptions, type BulkFlags } from './bulk.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags, BulkFlags {
  readonly reason: string;
  readonly missed: 'skip' | 'fire-once';
}

export function resumeCommand({ world, answer }: Setting): Command {
  const missed = new Option('--missed <what>', 'instants of the pause: skip them, or cover them with one run');
  const about = 'Ends the pause of a cron, or of all with a tag. Does nothing if the cron is not paused.';
  const command = withBulkOptions(new Command('resume').summary('end pauses').description(about))
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .addOption(missed.choices(['skip', 'fire-once']).default('skip'));
  return withOutput(withDeploymentOptions(withBy(command))).action(async (named: string | undefined, flags: Flags) => {
    const cron = oneCron(named, flags);
    const { reason, missed: policy, tag = '' } = flags;
    const order = { reason, missed: policy };
    const resume = (deployment: Deployment) =>
      cron === null
        ? orderMany({ order: 'resume', tag, ...order }, flags, { deployment, world })
        : deployment.resume(cron, order).then((resumed) => resumedReport(cron, resumed, flags));
    answer(await withDeployment(flags, world, resume), flags);
  });
}

function resumedReport(cron: string, resumed: Answers['Resumed'], flags: Flags): Report {
  const lines = sentences(cron, resumed, flags);
  return { code: EXIT.ok, json: { cron, ...resumed }, text: (width) => lines.flatMap((line) => hanging(line, width)) };
}

function sentences(cron: string, { ended, runId }: Answers['Resumed'], { missed }: Flags): string[] {
  if (ended === null) return [`${cron} was not paused.`];
  const since = `${cron} fires again; it was paused since ${shortIso(ended.since)}, by ${ended.by}: ${ended.reason}`;
  if (runId !== null) return [since, `One run for the missed instants: ${runId}`];
  return missed === 'skip'
    ? [since]
    : [since, 'No run for missed instants: there were none, or the maximum of open runs is reached.'];
}
