import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import { Command } from 'commander';
import { EXIT } from '../exit.js';
import { knownCron, overviewOf, presentCronDetail, type CronDetailJson, type Run } from '../jobs.js';
import type { Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore, type Store } from '../store/store.js';
import { table } from '../table.js';
import type { Setting } from '../world.js';
import { duration, RUN_HEAD, runRow } from './run-lines.js';
import { withJson, type JsonFlags } from './orders.js';

type Flags = StoreFlags & JsonFlags;

const ABOUT = 'Shows one cron: definition, schedule, holder, changes and latest runs.';
const LATEST = 5;

export function showCommand({ world, answer }: Setting): Command {
  const command = new Command('show').summary('one cron in detail').description(ABOUT);
  return withJson(withStoreOptions(command.argument('<cron>', 'its name'))).action(
    async (cron: string, flags: Flags) => {
      answer(await withStore(flags, world, (store) => show(store, cron)), flags);
    },
  );
}

async function show({ catalog, ledger, leaseStore }: Store, cron: string): Promise<Report> {
  const { entry, now } = await knownCron(catalog, cron);
  const [record, runs, waiting, keys, [lease]] = await Promise.all([
    ledger.readCron(cron),
    ledger.runs(cron, LATEST),
    ledger.runsIn('uncertain', [cron], 1_000),
    ledger.countKeys(cron),
    leaseStore.inspect([cron]),
  ]);
  const overview = overviewOf(entry, { record, last: runs[0] ?? null }, now);
  const detail = presentCronDetail({ overview, entry, record }, { lease: lease ?? null, uncertain: waiting.length });
  return {
    code: EXIT.ok,
    json: { ...detail, keys },
    text: (width) => [
      ...table([...factsOf(detail, lease ?? null), ...keysOf(keys)], width),
      '',
      ...historyOf(detail, width),
      ...latest(runs, width),
    ],
  };
}

function factsOf(cron: CronDetailJson, lease: Holding | null): string[][] {
  const { name, state, generation, since, next, paused, misfire, overlap, dst, handler, payload } = cron;
  const options = [
    ...[`misfire ${misfire}`, `overlap ${overlap}, ${cron.maxConcurrency} at once`, `grace ${duration(cron.graceMs)}`],
    ...[`dst ${dst.gap}/${dst.repeat}`, `spread ${duration(cron.spreadMs)}`],
  ];
  const held = lease && `${ownerPrefix(lease.holder)}, fence ${lease.fence}, ${duration(lease.remainingMs)} left`;
  return [
    ['cron', name],
    ['schedule', `${cron.expression} (${cron.description})`],
    ['state', `${state}, generation ${generation} since ${since}`],
    ['next', next ?? '-'],
    ...(paused
      ? [['paused', `until ${paused.until ?? 'somebody resumes it'}, by ${paused.by}: ${paused.reason}`]]
      : []),
    ['holder', held ?? 'nobody'],
    ['options', options.join(' · ')],
    ...(handler === null ? [] : [['handler', handler]]),
    ...(payload === null ? [] : [['payload', JSON.stringify(payload)]]),
    ['declared', cron.source === null ? 'created at run time' : `by ${cron.source}, build ${cron.buildSeq ?? '?'}`],
    ...(cron.uncertain === 0 ? [] : [['uncertain', `${cron.uncertain} of its runs wait for an operator`]]),
  ];
}

/** Each stays for its keyTtl, so their number is what a job is asked for in that time. */
function keysOf(keys: number): string[][] {
  return keys === 0 ? [] : [['keys', `${keys} idempotency keys are remembered`]];
}

function historyOf({ generations }: CronDetailJson, width: number): string[] {
  const rows = generations.map(({ generation, state, since, expression, timeZone, by, reason }) => [
    ...[`${generation}`, since, state, `${expression} ${timeZone}`, reason === null ? by : `${by}: ${reason}`],
  ]);
  return [...table([['GENERATION', 'SINCE', 'STATE', 'SCHEDULE', 'BY'], ...rows], width), ''];
}

function latest(runs: readonly Run[], width: number): string[] {
  return runs.length === 0 ? ['It has no runs.'] : table([RUN_HEAD, ...runs.map(runRow)], width);
}
