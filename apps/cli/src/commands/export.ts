import { Command } from 'commander';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { words } from '../option-values.js';
import type { Setting } from '../world.js';

interface Flags extends DeploymentFlags {
  readonly tag?: string;
}

const ABOUT =
  'Prints every cron that is not removed, as JSON in a line each (NDJSON): its name and the options that make it. ' +
  '"fencepost import" takes it.';

export function exportCommand({ world }: Setting): Command {
  const command = new Command('export')
    .summary('all crons as JSON, one in a line')
    .description(ABOUT)
    .option('--tag <tag>', 'only crons with this tag', words);
  return withDeploymentOptions(command).action(({ tag, ...flags }: Flags) =>
    withDeployment(flags, world, async (deployment) => {
      const unread = world.unread?.();
      for await (const piece of deployment.exportCrons(tag)) {
        if (unread?.aborted) break;
        await world.flushed?.();
        world.out(piece);
      }
    }),
  );
}
