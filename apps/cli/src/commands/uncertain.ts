import { Command } from 'commander';
import type { Answers, Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { wholeNumber } from '../option-values.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { resolveWith } from './answered-question.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OutputFlags {
  readonly cron?: string;
  readonly limit?: number;
}

const ABOUT =
  'Lists uncertain runs: the outcome of an effect is unknown, and an operator must resolve it. Exits with 1 if ' +
  'there are any; "fencepost resolve" answers them.';

export function uncertainCommand({ world, answer }: Setting): Command {
  const command = new Command('uncertain')
    .summary('uncertain runs')
    .description(ABOUT)
    .option('--cron <name>', 'only runs of this cron or job')
    .option('--limit <n>', 'maximum number (default: 50)', wholeNumber(1, 1_000));
  return withOutput(withDeploymentOptions(command)).action(async (flags: Flags) => {
    answer(reportOf(await withDeployment(flags, world, (deployment) => asked(deployment, flags))), flags);
  });
}

type Asking = Pick<Answers['RunReport'], 'run' | 'unresolvedEffect'>;

async function asked(deployment: Deployment, { cron, limit }: Flags): Promise<Asking[]> {
  const filter = { ...(cron !== undefined && { cron }), ...(limit !== undefined && { limit }) };
  const waiting = await deployment.runsIn('uncertain', filter);
  return Promise.all(waiting.map(({ id }) => deployment.run(id, [])));
}

function reportOf(reports: readonly Asking[]): Report {
  return {
    code: reports.length === 0 ? EXIT.ok : EXIT.finding,
    json: reports.map(({ run, unresolvedEffect }) => ({ ...run, unresolvedEffect })),
    text: (width) => {
      if (reports.length === 0) return ['No run is uncertain.'];
      return reports.flatMap(({ run, unresolvedEffect }) => [
        run.id,
        ...(unresolvedEffect
          ? [
              ...hanging(unresolvedEffect.why, width),
              ...hanging(unresolvedEffect.advice, width),
              resolveWith(run, unresolvedEffect),
            ]
          : []),
        '',
      ]);
    },
  };
}
