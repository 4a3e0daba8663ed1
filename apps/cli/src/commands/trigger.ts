import { Command } from 'commander';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import type { TriggerReply } from '../jobs.js';
import { json, words, type JsonValue } from '../option-values.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly payload?: JsonValue;
  readonly reason?: string;
  readonly force?: boolean;
}

export function triggerCommand({ world, answer }: Setting): Command {
  const command = new Command('trigger')
    .summary('run a cron once')
    .description('Runs a cron once, now, in addition to its schedule, even if it is paused.')
    .argument('<cron>', 'its name')
    .option('--payload <json>', 'payload (default: that of the definition)', json)
    .option('--reason <words>', 'reason, kept in the audit trail; required with --url', words)
    .option('--force', 'also if the maximum of open runs is reached');
  return withOutput(withDeploymentOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { payload, reason, force = false } = flags;
    const order = { force, ...(reason !== undefined && { reason }), ...(payload && { payload: payload.value }) };
    const reply = await withDeployment(flags, world, (deployment) => deployment.trigger(cron, order));
    const code = reply.verdict === 'claimed' ? EXIT.ok : EXIT.finding;
    answer({ code, json: { cron, ...reply }, text: (width) => hanging(sentence(cron, reply), width) }, flags);
  });
}

function sentence(cron: string, reply: TriggerReply): string {
  switch (reply.verdict) {
    case 'claimed':
      return `Run ${reply.runId} is enqueued.`;
    case 'skipped':
      return `${cron} was not run: the maximum of open runs is reached. Use --force to run it anyway.`;
    case 'exists':
      return `${cron} was not run: the run already exists (${reply.state}).`;
    case 'ahead':
      return `${cron} was not run: its instant is in the future.`;
    case 'forgotten':
      return `${cron} was not run: the order arrived too late, or was repeated after its run had expired. Repeat the command.`;
  }
}
