import { Command, Option } from 'commander';
import type { Answers } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { words } from '../option-values.js';
import { shortIso } from '../report.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly reason: string;
  readonly missed: 'skip' | 'fire-once';
}

export function resumeCommand({ world, answer }: Setting): Command {
  const missed = new Option('--missed <what>', 'instants of the pause: skip them, or cover them with one run');
  const command = new Command('resume')
    .summary('end a pause')
    .description('Ends the pause of a cron. Does nothing if the cron is not paused.')
    .argument('<cron>', 'its name')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .addOption(missed.choices(['skip', 'fire-once']).default('skip'));
  return withOutput(withDeploymentOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const order = { reason: flags.reason, missed: flags.missed };
    const resumed = await withDeployment(flags, world, (deployment) => deployment.resume(cron, order));
    const lines = sentences(cron, resumed, flags);
    answer(
      { code: EXIT.ok, json: { cron, ...resumed }, text: (width) => lines.flatMap((line) => hanging(line, width)) },
      flags,
    );
  });
}

function sentences(cron: string, { ended, runId }: Answers['Resumed'], { missed }: Flags): string[] {
  if (ended === null) return [`${cron} was not paused.`];
  const since = `${cron} fires again; it was paused since ${shortIso(ended.since)}, by ${ended.by}: ${ended.reason}`;
  if (runId !== null) return [since, `One run for the missed instants: ${runId}`];
  return missed === 'skip'
    ? [since]
    : [since, 'No run for missed instants: there were none, or the maximum of open runs is reached.'];
}
