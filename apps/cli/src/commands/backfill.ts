import { Command } from 'commander';
import type { Answers } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import type { BackfillProgress } from '../jobs.js';
import { instant, words } from '../option-values.js';
import { iso, shortIso, type Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { ProgressLine, rateOf, spokenDuration } from '../progress.js';
import { commandAgain } from './command-again.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly from: number;
  readonly to: number;
  readonly dryRun?: boolean;
  readonly reason: string;
}

const ABOUT =
  'Runs the instants of a past range that did not run, after all other waiting runs. Instants that ran are not repeated, so ' +
  'you can stop it (Ctrl-C) and start it again.';

export function backfillCommand({ world, answer }: Setting): Command {
  const command = new Command('backfill')
    .summary('run past instants that did not run')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .requiredOption('--from <instant>', 'start of the range, inclusive', instant)
    .requiredOption('--to <instant>', 'end of the range, exclusive', instant)
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option('--dry-run', 'show what would be done, without changes');
  return withOutput(withDeploymentOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { from, to, reason, dryRun = false } = flags;
    const line = new ProgressLine(cron, world);
    const onProgress = (progress: BackfillProgress) =>
      line.show(progressText(progress, line.elapsedMs), progress.asked === progress.instants);
    const order = { from, to, dryRun, reason, interrupted: world.interrupted, onProgress };
    try {
      const done = await withDeployment(flags, world, (deployment) => deployment.backfill(cron, order));
      line.end();
      answer(reportOf(done, flags), flags);
    } catch (error) {
      line.end();
      throw error;
    }
  });
}

function reportOf(done: Answers['Backfill'], flags: Flags): Report {
  const { from, to } = flags;
  const { cron, dryRun, instants, accepted, left, aborted, nextFrom } = done;
  const rows = Object.entries(left).map(([state, count]) => [
    '',
    `${count}`,
    `not repeated: ${REASONS[state] ?? state}`,
  ]);
  const verb = dryRun ? 'would run' : 'enqueued';
  const goOn = nextFrom === null ? null : commandAgain('backfill', [cron, '--from', nextFrom, '--to', iso(to)], flags);
  return {
    code: aborted ? EXIT.finding : EXIT.ok,
    json: { ...done, from: iso(from), to: iso(to), goOn },
    text: (width) => [
      ...hanging(`${cron} has ${instants} instants from ${shortIso(from)} to ${shortIso(to)}.`, width),
      ...table([['', `${accepted}`, verb], ...rows], width),
      ...(dryRun && accepted > 0 ? hanging(estimateText(done), width) : []),
      ...(goOn === null || nextFrom === null
        ? []
        : [...hanging(`Stopped before ${shortIso(nextFrom)}. To continue:`, width), `  ${goOn}`]),
    ],
  };
}

const REASONS: Readonly<Record<string, string>> = {
  ahead: 'in the future, left to the schedule',
  forgotten: 'record expired; it may have run',
};

function estimateText({ estimateMs }: Answers['Backfill']): string {
  return estimateMs === null
    ? 'No estimate of the duration: its runs may overlap, or none has succeeded recently.'
    : `Estimated from earlier runs: about ${spokenDuration(estimateMs)}.`;
}

function progressText({ instants, asked, accepted, open }: BackfillProgress, elapsedMs: number): string {
  return `${asked} of ${instants} instants requested, ${accepted} accepted, ${open} still open${rateOf({ asked, total: instants, elapsedMs, done: asked - open })}`;
}
