import { Command } from 'commander';
import { toned } from '../colour.js';
import type { Answers } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { shortIso, type Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

type Flags = DeploymentFlags & OutputFlags;

const ABOUT =
  'Explains why a cron ran at a time, or did not: schedule and clock changes, definition, pause, overlap, misfire, lease, ' +
  'attempts, refusals, effects. For a future time it says whether the cron will run. Exits with 1 for an instant missed ' +
  'without a recorded reason.';

const TIME = 'an instant with its offset, a local time of its zone such as "2026-03-29 02:30", "now", or "last"';

export function whyCommand({ world, answer }: Setting): Command {
  const command = new Command('why')
    .summary('why a cron ran at a time, or did not')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .argument('<time>', TIME);
  return withOutput(withDeploymentOptions(command)).action(async (cron: string, time: string, flags: Flags) => {
    const report = await withDeployment(flags, world, (deployment) => deployment.why(cron, time));
    answer(reportOf(report), flags);
  });
}

const SIGNS: Readonly<Record<Answers['Finding']['level'], string>> = { ok: ' ', note: '-', warn: '!', bad: '!!' };

function reportOf(report: Answers['WhyReport']): Report {
  const { verdict, answer, steps, cron, at } = report;
  return {
    code: verdict === 'missed' ? EXIT.finding : EXIT.ok,
    json: report,
    text: (width) => [
      ...hanging(`${cron} at ${shortIso(at)}: ${answer}`, width),
      '',
      ...table(
        steps.map(({ topic, level, text }) => [toned(SIGNS[level]), topic, text]),
        width,
      ),
    ],
  };
}
