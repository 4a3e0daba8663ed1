import { Command } from 'commander';
import { padded, toned } from '../colour.js';
import type { Answers } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { needsCare } from '../jobs.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

type Flags = DeploymentFlags & OutputFlags;

const ABOUT =
  'Checks stores, pods and crons, and shows what is wrong and what to do: unsafe settings of Redis and ' +
  'PostgreSQL, clock skew, mixed versions, crons without a worker, waiting runs, short ' +
  'leases. Fails (1) for a bad finding or a warning.';

export function doctorCommand({ world, answer }: Setting): Command {
  const command = new Command('doctor').summary('what is wrong, and what to do').description(ABOUT);
  return withOutput(withDeploymentOptions(command)).action(async (flags: Flags) => {
    answer(reportOf(await withDeployment(flags, world, (deployment) => deployment.doctor())), flags);
  });
}

function reportOf(findings: readonly Answers['Finding'][]): Report {
  return {
    code: needsCare(findings) ? EXIT.finding : EXIT.ok,
    json: findings,
    text: (width) => findings.flatMap((finding) => lines(finding, width)),
  };
}

function lines({ level, code, subject, text, todo }: Answers['Finding'], width: number): string[] {
  return [
    ...hanging(`${padded(toned(level.toUpperCase()), 4)} ${code}  ${subject}`, width, 5),
    ...indented(text, width),
    ...(todo === null ? [] : indented(`To do: ${todo}`, width)),
    '',
  ];
}

function indented(text: string, width: number): string[] {
  return hanging(text, width - 5, 0).map((line) => `     ${line}`);
}
