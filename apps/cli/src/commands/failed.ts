import { Command } from 'commander';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { wholeNumber } from '../option-values.js';
import { table } from '../table.js';
import type { Setting } from '../world.js';
import { RUN_HEAD, runRow } from './run-lines.js';
import { withJson, type JsonFlags } from './orders.js';

interface Flags extends DeploymentFlags, JsonFlags {
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
  return withJson(withDeploymentOptions(command)).action(async (flags: Flags) => {
    const { cron, limit } = flags;
    const filter = { ...(cron !== undefined && { cron }), ...(limit !== undefined && { limit }) };
    const runs = await withDeployment(flags, world, (deployment) => deployment.runsIn('failed', filter));
    const text = (width: number) =>
      runs.length === 0 ? ['No run has failed.'] : table([RUN_HEAD, ...runs.map(runRow)], width);
    const code = runs.length === 0 ? EXIT.ok : EXIT.finding;
    answer({ code, json: runs, text }, flags);
  });
}
