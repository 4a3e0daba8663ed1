import { Command, Option } from 'commander';
import type { RunState } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { wholeNumber } from '../option-values.js';
import type { Setting } from '../world.js';
import { runTable } from './run-lines.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OutputFlags {
  readonly state?: RunState;
  readonly limit: number;
}

const STATES = [
  ...(['claimed', 'enqueued', 'running', 'orphaned', 'uncertain'] as const),
  ...(['succeeded', 'failed', 'cancelled', 'skipped'] as const),
] satisfies RunState[];
const MAX = 1_000;
const ABOUT = 'Lists the latest runs of a cron, including skipped ones. With --state: among the latest 1,000.';

export function runsCommand({ world, answer }: Setting): Command {
  const command = new Command('runs')
    .summary('the latest runs of a cron')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .addOption(new Option('--state <state>', 'only runs in this state').choices(STATES))
    .option('--limit <n>', 'maximum number', wholeNumber(1, MAX), 20);
  return withOutput(withDeploymentOptions(command)).action(async (cron: string, flags: Flags) => {
    const { state, limit } = flags;
    const query = { limit, ...(state && { state }) };
    const runs = await withDeployment(flags, world, (deployment) => deployment.runs(cron, query));
    const none = `${cron} has no ${flags.state === undefined ? '' : `${flags.state} `}runs.`;
    const lines = (isWide: boolean) => (width: number) => (runs.length === 0 ? [none] : runTable(runs, width, isWide));
    answer({ code: EXIT.ok, json: runs, text: lines(false), wide: lines(true) }, flags);
  });
}
