import { Command, Option } from 'commander';
import { EXIT } from '../exit.js';
import { knownCron, presentRun, type Run } from '../jobs.js';
import { wholeNumber } from '../option-values.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore, type Store } from '../store/store.js';
import { table } from '../table.js';
import type { Setting } from '../world.js';
import { RUN_HEAD, runRow } from './run-lines.js';
import { withJson, type JsonFlags } from './orders.js';

interface Flags extends StoreFlags, JsonFlags {
  readonly state?: Run['state'];
  readonly limit: number;
}

const STATES = [
  ...(['claimed', 'enqueued', 'running', 'orphaned', 'uncertain'] as const),
  ...(['succeeded', 'failed', 'cancelled', 'skipped'] as const),
] satisfies Run['state'][];
const MAX = 1_000;
const ABOUT = 'Lists the latest runs of a cron, including skipped ones. With --state: among the latest 1,000.';

export function runsCommand({ world, answer }: Setting): Command {
  const command = new Command('runs')
    .summary('the latest runs of a cron')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .addOption(new Option('--state <state>', 'only runs in this state').choices(STATES))
    .option('--limit <n>', 'maximum number', wholeNumber(1, MAX), 20);
  return withJson(withStoreOptions(command)).action(async (cron: string, flags: Flags) => {
    const runs = await withStore(flags, world, (store) => find(store, cron, flags));
    const none = `${cron} has no ${flags.state === undefined ? '' : `${flags.state} `}runs.`;
    const text = (width: number) => (runs.length === 0 ? [none] : table([RUN_HEAD, ...runs.map(runRow)], width));
    answer({ code: EXIT.ok, json: runs.map(presentRun), text }, flags);
  });
}

async function find({ catalog, ledger }: Store, cron: string, { state, limit }: Flags): Promise<Run[]> {
  await knownCron(catalog, cron);
  if (state === 'failed' || state === 'uncertain') return ledger.runsIn(state, [cron], limit);
  const runs = await ledger.runs(cron, state === undefined ? limit : MAX);
  return runs.filter((run) => state === undefined || run.state === state).slice(0, limit);
}
