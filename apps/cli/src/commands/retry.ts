import { Command } from 'commander';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { json, words, type JsonValue } from '../option-values.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { withBy } from './orders.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OutputFlags {
  readonly by?: string;
  readonly reason: string;
  readonly payload?: JsonValue;
  readonly force?: boolean;
  readonly repeatUnknown?: boolean;
}

const ABOUT = 'Runs a failed or cancelled run again, as a new run. Effects that are done are not repeated.';

export function retryCommand({ world, answer }: Setting): Command {
  const command = new Command('retry')
    .summary('run a failed run again')
    .description(ABOUT)
    .argument('<run-id>', 'run id, as shown by "fencepost failed"')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option('--payload <json>', 'payload (default: that of the run)', json)
    .option('--force', 'also if the maximum of open runs is reached')
    .option('--repeat-unknown', 'also repeat effects whose outcome is unknown');
  return withOutput(withDeploymentOptions(withBy(command))).action(async (runId: string, flags: Flags) => {
    const { reason, payload, force = false, repeatUnknown = false } = flags;
    const order = { reason, force, repeatUnknown, ...(payload && { payload: payload.value }) };
    const retried = await withDeployment(flags, world, (deployment) => deployment.retry(runId, order));
    const line = `Run ${retried.runId} is enqueued in place of ${runId}.`;
    answer({ code: EXIT.ok, json: { of: runId, ...retried }, text: (width) => hanging(line, width) }, flags);
  });
}
