import { Command } from 'commander';
import type { CronLines, ManyProgress, ManyReport } from '../jobs.js';
import { InvalidCronsError, readCronLines } from '../jobs.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { words } from '../option-values.js';
import { ProgressLine, rateOf } from '../progress.js';
import type { Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { commandAgain } from './command-again.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly reason: string;
  readonly dryRun?: boolean;
}

/** What fits into the memory of a program that runs once. */
const LIMITS = { maxLines: 1_000_000, maxBytes: 1_073_741_824 };

const ABOUT =
  'Creates and changes a cron for each line of a file: a JSON object with its name and its options, as "fencepost export" ' +
  'prints it. Options that are left out return to their defaults; crons that are as given stay as they are, so you can stop ' +
  'it (Ctrl-C) and repeat it. Changes nothing if a line is invalid. Fails (1) if a cron was refused, or not all were reached.';

export function importCommand({ world, answer }: Setting): Command {
  const command = new Command('import')
    .summary('create or change many crons')
    .description(ABOUT)
    .argument('<file>', 'a cron as JSON in each line (NDJSON); - reads stdin')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option('--dry-run', 'show what would be changed, without changes');
  return withOutput(withDeploymentOptions(withBy(command))).action(async (file: string, flags: Flags) => {
    const { reason, dryRun = false } = flags;
    const lines = await readLines(await world.read(file));
    const line = new ProgressLine(file, world);
    const onProgress = (progress: ManyProgress) =>
      line.show(progressText(progress, line.elapsedMs), progress.asked === progress.total);
    const order = { reason, dryRun, signal: world.interrupted(), onProgress };
    try {
      const done = await withDeployment(flags, world, (deployment) => deployment.importCrons(lines, order));
      line.end();
      answer(reportOf(done, commandAgain('import', [file], flags)), flags);
    } catch (error) {
      line.end();
      if (!(error instanceof InvalidCronsError)) throw error;
      answer(invalidReport(error), flags);
    }
  });
}

async function readLines(text: string): Promise<CronLines> {
  return readCronLines(
    (async function* () {
      yield text;
    })(),
    LIMITS,
  );
}

function progressText({ total, asked, created, changed, failed }: ManyProgress, elapsedMs: number): string {
  const refused = failed === 0 ? '' : `, ${failed} refused`;
  return `${asked} of ${total} crons, ${created} created, ${changed} changed${refused}${rateOf({ asked, total, elapsedMs })}`;
}

function reportOf(done: ManyReport, again: string): Report {
  const { dryRun, total, asked, created, changed, unchanged, failed, stopped } = done;
  const would = dryRun ? 'would be ' : '';
  const rows = [
    ['', `${created}`, `${would}created`],
    ['', `${changed}`, `${would}changed`],
    ['', `${unchanged}`, 'unchanged'],
    ...(failed > 0 ? [['', `${failed}`, 'refused']] : []),
    ...(asked < total ? [['', `${total - asked}`, 'not reached']] : []),
  ];
  const problems = done.problems.map(({ position: line, ...problem }) => ({ line, ...problem }));
  const goOn = stopped === null ? null : again;
  return {
    code: failed > 0 || stopped ? EXIT.finding : EXIT.ok,
    json: { ...done, problems, goOn },
    names: [],
    text: (width) => [
      ...hanging(`${total} crons:`, width),
      ...table(rows, width),
      ...problemLines(done.problems, failed, width),
      ...(stopped ? hanging(`${stopped.detail} To continue:`, width) : []),
      ...(goOn === null ? [] : [`  ${goOn}`]),
    ],
  };
}

function invalidReport({ problems, count, message }: InvalidCronsError): Report {
  const named = problems.map(({ position: line, ...problem }) => ({ line, ...problem }));
  return {
    code: EXIT.usage,
    json: { code: 'INVALID_CRONS', count, problems: named },
    names: [],
    text: (width) => [
      ...hanging(`${message.split('. ')[0] ?? message}.`, width),
      ...problemLines(problems, count, width),
    ],
  };
}

const MAX_SHOWN = 20;

function problemLines(problems: ManyReport['problems'], count: number, width: number): string[] {
  const shown = problems.slice(0, MAX_SHOWN);
  const more = count - shown.length;
  return [
    ...shown.flatMap(({ position, detail }) => hanging(`line ${position}: ${detail}`, width)),
    ...(more > 0 ? [`and ${more} more: -o json names up to 1,000.`] : []),
  ];
}
