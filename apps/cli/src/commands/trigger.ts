import { Command } from 'commander';
import type { Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT, UsageError } from '../exit.js';
import type { TriggerReply } from '../jobs.js';
import { json, words, type JsonValue } from '../option-values.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { oneCron, orderMany, withBulkOptions, type BulkFlags } from './bulk.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags, BulkFlags {
  readonly payload?: JsonValue;
  readonly reason?: string;
  readonly force?: boolean;
}

export function triggerCommand({ world, answer }: Setting): Command {
  const about = 'Runs a cron, or each with a tag, once, now, in addition to its schedule, even if it is paused.';
  const command = withBulkOptions(new Command('trigger').summary('run crons once').description(about))
    .option('--payload <json>', 'payload (default: that of the definition)', json)
    .option('--reason <words>', 'reason, kept in the audit trail; required with --url and --tag', words)
    .option('--force', 'also if the maximum of open runs is reached');
  return withOutput(withDeploymentOptions(withBy(command))).action(async (named: string | undefined, flags: Flags) => {
    const cron = oneCron(named, flags);
    const trigger = (deployment: Deployment) =>
      cron === null ? triggerMany(flags, { deployment, world }) : triggerOne(cron, flags, deployment);
    answer(await withDeployment(flags, world, trigger), flags);
  });
}

async function triggerOne(cron: string, flags: Flags, deployment: Deployment): Promise<Report> {
  const { payload, reason, force = false } = flags;
  const order = { force, ...(reason !== undefined && { reason }), ...(payload && { payload: payload.value }) };
  const reply = await deployment.trigger(cron, order);
  const code = reply.verdict === 'claimed' ? EXIT.ok : EXIT.finding;
  return { code, json: { cron, ...reply }, text: (width) => hanging(sentence(cron, reply), width) };
}

function triggerMany(flags: Flags, place: Parameters<typeof orderMany>[2]): Promise<Report> {
  const { tag = '', reason, payload, force } = flags;
  if (reason === undefined) throw new UsageError('Expected --reason with --tag. Nothing was changed.');
  if (payload || force) throw new UsageError('Expected neither --payload nor --force with --tag. Nothing was changed.');
  return orderMany({ order: 'trigger', tag, reason }, flags, place);
}

function sentence(cron: string, reply: TriggerReply): string {
  switch (reply.verdict) {
    case 'claimed':
      return `Run ${reply.runId} is enqueued.`;
    case 'skipped':
      return reply.reason === 'overlap'
        ? `${cron} was not run: the maximum of open runs is reached. Use --force to run it anyway.`
        : `${cron} was not run: an open run of it waits already, because no live worker has its handler. Start one.`;
    case 'exists':
      return `${cron} was not run: the run already exists (${reply.state}).`;
    case 'ahead':
      return `${cron} was not run: its instant is in the future.`;
    case 'forgotten':
      return `${cron} was not run: the order arrived too late, or was repeated after its run had expired. Repeat the command.`;
  }
}
