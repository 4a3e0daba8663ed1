import { Command } from 'commander';
import { EXIT } from '../exit.js';
import { eventSentence, presentJournalEntry, presentRunReport, type JournalEntry, type RunReport } from '../jobs.js';
import { shortIso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore, type Store } from '../store/store.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { resolveWith } from './answered-question.js';
import { RUN_HEAD, runRow } from './run-lines.js';
import { withJson, type JsonFlags } from './orders.js';

interface Flags extends StoreFlags, JsonFlags {
  readonly forEach?: string[];
}

const ABOUT = 'Shows one run: state, effects with their outcomes, unresolved effects, and journal entries.';
const MAX_HEARD = 200;

export function runCommand({ world, answer }: Setting): Command {
  const command = new Command('run')
    .summary('one run, with its effects')
    .description(ABOUT)
    .argument('<run-id>', 'such as nightly-report@1763607600000')
    .option('--for-each <name...>', 'also the progress of these forEach');
  return withJson(withStoreOptions(command)).action(async (runId: string, flags: Flags) => {
    answer(await withStore(flags, world, (store) => look(store, runId, flags)), flags);
  });
}

async function look({ runs, journal }: Store, runId: string, { forEach = [] }: Flags): Promise<Report> {
  const report = await runs.inspect(runId, forEach);
  // Hints, and no more: without them there is still all that the ledger knows.
  const heard = await journal.ofCron(report.run.cron, { limit: MAX_HEARD }).catch(() => []);
  const about = heard.filter((entry) => entry.runId === runId).toReversed();
  return {
    code: EXIT.ok,
    json: { ...presentRunReport(report), journal: about.map(presentJournalEntry) },
    text: (width) => [
      ...table([RUN_HEAD, runRow(report.run)], width),
      ...details(report, width),
      ...told(about, width),
    ],
  };
}

function details({ run, effects, items, unresolvedEffect }: RunReport, width: number): string[] {
  const rows = effects.map(({ name, state, unknown, since, error }) => [
    ...['effect', name, unknown ? 'unknown' : state, shortIso(since), error ?? ''],
  ]);
  const lists = Object.entries(items).map(([name, { done, failed, begun }]) => [
    ...['items', name, `${done} done`, `${failed} failed`, `${begun} begun`],
  ]);
  return [
    ...(run.by === null ? [] : hanging(`Ordered by ${run.by}.`, width)),
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

function told(entries: readonly JournalEntry[], width: number): string[] {
  return table(
    entries.map(({ at, pod, event, detail }) => [shortIso(at), pod, event, eventSentence(event, detail)]),
    width,
  );
}
