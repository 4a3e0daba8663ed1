import { Command } from 'commander';
import { EXIT } from '../exit.js';
import type { RunReport } from '../jobs.js';
import { wholeNumber } from '../option-values.js';
import { iso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withCrons, type Store } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { resolveWith } from './answered-question.js';
import { runJson, withJson } from './orders.js';

interface Flags extends StoreFlags {
  readonly cron?: string;
  readonly limit?: number;
  readonly json?: boolean;
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
  return withJson(withStoreOptions(command)).action(async (flags: Flags) => {
    answer(reportOf(await withCrons(flags, world, (store) => asked(store, flags))), flags);
  });
}

async function asked({ runs }: Store, { cron, limit }: Flags): Promise<RunReport[]> {
  const waiting = await runs.uncertain({ ...(cron !== undefined && { cron }), ...(limit !== undefined && { limit }) });
  return Promise.all(waiting.map(({ id }) => runs.inspect(id)));
}

function reportOf(reports: readonly RunReport[]): Report {
  return {
    code: reports.length === 0 ? EXIT.ok : EXIT.finding,
    json: reports.map(({ run, unresolvedEffect }) => ({
      ...runJson(run),
      unresolvedEffect: unresolvedEffect && { ...unresolvedEffect, since: iso(unresolvedEffect.since) },
    })),
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
