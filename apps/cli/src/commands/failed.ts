import { Command } from 'commander';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { wholeNumber } from '../option-values.js';
import type { Setting } from '../world.js';
import { runTable } from './run-lines.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OutputFlags {
  readonly cron?: string;
  readonly limit?: number;
}

const ABOUT =
  'Lists runs that failed for good, newest first. Exits with 1 if there are any; "fencepost retry" runs one again.';

export function failedCommand({ world, answer }: Setting): Command {
  const command = new Command('failed')
    .summary('runs that failed for good')
    .description(ABOUT)
    .option('--cron <name>', 'only runs of this cron or job')
    .option('--limit <n>', 'maximum number (default: 50)', wholeNumber(1, 1_000));
  return withOutput(withDeploymentOptions(command)).action(async (flags: Flags) => {
    const { cron, limit } = flags;
    const filter = { ...(cron !== undefined && { cron }), ...(limit !== undefined && { limit }) };
    const runs = await withDeployment(flags, world, (deployment) => deployment.runsIn('failed', filter));
    const lines = (isWide: boolean) => (width: number) =>
      runs.length === 0 ? ['No run has failed.'] : runTable(runs, width, isWide);
    const code = runs.length === 0 ? EXIT.ok : EXIT.finding;
    answer({ code, json: runs, text: lines(false), wide: lines(true) }, flags);
  });
}
