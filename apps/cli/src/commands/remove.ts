import { Command } from 'commander';
import type { Declared, NotRemoved, Removed } from '../deployment/deployment.js';
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
  'Removes a cron: it no longer fires; open runs continue, and its history is kept. "fencepost set" restores it. A cron that ' +
  'a live pod declares is refused (1): pause it, or remove it from the code; one that no live pod declares comes back if a ' +
  'pod declares it again. Fails (1) if it was changed since --expected; then nothing is changed.';

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
    answer(reportOf(cron, reason, reply), flags);
  });
}

function reportOf(cron: string, reason: string, reply: Removed | NotRemoved): Report {
  if ('by' in reply) return removedReport(cron, { ...reply, reason });
  return 'apps' in reply ? declaredReport(cron, reply) : movedReport(cron, reply);
}

function removedReport(cron: string, { by, declaredBy, reason }: Removed & { readonly reason: string }): Report {
  const back = declaredBy === null ? [] : [`It comes back if a pod of "${declaredBy}" declares it again.`];
  const lines = [`${cron} is removed, by ${by}: ${reason}`, ...back];
  return {
    code: EXIT.ok,
    json: { cron, verdict: 'removed', by, reason, declaredBy },
    text: (width) => lines.flatMap((line) => hanging(line, width)),
  };
}

/** A finding, not bad usage: only the pods know whether one of them declares it. */
function declaredReport(cron: string, { apps, message }: Declared): Report {
  return {
    code: EXIT.finding,
    json: { cron, verdict: 'declared', apps },
    text: (width) => hanging(message, width),
  };
}
