import { Command } from 'commander';
import type { Answers, Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { eventSentence } from '../jobs.js';
import { shortIso, type Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { resolveWith } from './answered-question.js';
import { RUN_HEAD, runRow } from './run-lines.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OutputFlags {
  readonly forEach?: string[];
}

const ABOUT = 'Shows one run: state, result, effects with their outcomes, unresolved effects, and journal entries.';

export function runCommand({ world, answer }: Setting): Command {
  const command = new Command('run')
    .summary('one run, with its effects')
    .description(ABOUT)
    .argument('<run-id>', 'such as nightly-report@1763607600000')
    .option('--for-each <name...>', 'also the progress of these forEach');
  return withOutput(withDeploymentOptions(command)).action(async (runId: string, flags: Flags) => {
    answer(await withDeployment(flags, world, (deployment) => look(deployment, runId, flags)), flags);
  });
}

async function look(deployment: Deployment, runId: string, { forEach = [] }: Flags): Promise<Report> {
  const report = await deployment.run(runId, forEach);
  const journal = report.journal.toReversed();
  return {
    code: EXIT.ok,
    json: { ...report, journal },
    text: (width) => [
      ...table([RUN_HEAD, runRow(report.run)], width),
      ...details(report, width),
      ...told(journal, width),
    ],
  };
}

function details({ run, effects, items, unresolvedEffect }: Answers['RunReport'], width: number): string[] {
  const rows = effects.map(({ name, state, unknown, since, error }) => [
    ...['effect', name, unknown ? 'unknown' : state, shortIso(since), error ?? ''],
  ]);
  const lists = Object.entries(items).map(([name, { done, failed, begun }]) => [
    ...['items', name, `${done} done`, `${failed} failed`, `${begun} begun`],
  ]);
  return [
    ...(run.by === null ? [] : hanging(`Ordered by ${run.by}.`, width)),
    ...(run.result === null ? [] : hanging(`Result: ${JSON.stringify(run.result)}`, width)),
    ...table([...rows, ...lists], width),
    ...(unresolvedEffect
      ? [
          ...hanging(unresolvedEffect.why, width),
          ...hanging(unresolvedEffect.advice, width),
          resolveWith(run, unresolvedEffect),
        ]
      : []),
  ];
}

function told(entries: readonly Answers['JournalEntry'][], width: number): string[] {
  return table(
    entries.map(({ at, pod, event, detail }) => [shortIso(at), pod, event, eventSentence(event, detail)]),
    width,
  );
}
