import { Command } from 'commander';
import type { Cancelled } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { UnknownRunError } from '../jobs.js';
import { positiveDuration, words } from '../option-values.js';
import { shortIso } from '../report.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly reason: string;
  readonly grace?: number;
}

const ABOUT =
  'Cancels one run. A waiting run ends at once; a running one is signalled, and its writes are refused after the grace period.';

export function cancelCommand({ world, answer }: Setting): Command {
  const command = new Command('cancel')
    .summary('cancel one run')
    .description(ABOUT)
    .argument('<run-id>', 'such as nightly-report@1763607600000')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option('--grace <duration>', 'grace period (default: that of its cron)', positiveDuration);
  return withOutput(withDeploymentOptions(withBy(command))).action(async (runId: string, flags: Flags) => {
    const { reason, grace } = flags;
    const order = { reason, ...(grace !== undefined && { graceMs: grace }) };
    const reply = await withDeployment(flags, world, (deployment) => deployment.cancel(runId, order));
    if (reply.verdict === 'missing') throw new UnknownRunError(runId);
    const code = reply.verdict === 'terminal' ? EXIT.finding : EXIT.ok;
    answer({ code, json: { runId, ...reply }, text: (width) => hanging(sentence(runId, reply), width) }, flags);
  });
}

function sentence(runId: string, reply: Exclude<Cancelled, { verdict: 'missing' }>): string {
  switch (reply.verdict) {
    case 'cancelled':
      return `${runId} is cancelled.`;
    case 'cancelling':
      return `${runId} is being cancelled; its writes are refused from ${shortIso(reply.until)}.`;
    case 'terminal':
      return `${runId} had already ended: ${reply.state}.`;
  }
}
