import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Run, SkipRange } from '@fencepost/ledger/run';
import { cronOfRun } from '@fencepost/ledger/run';
import { instantsOf } from '../support/recount.js';
import type { SinkSnapshot } from './sinks.js';

/** What the ledger has of one cron. */
export interface CronAccount {
  readonly entry: CatalogEntry;
  readonly runs: readonly Run[];
  readonly skips: readonly SkipRange[];
}

export interface OracleInput {
  readonly accounts: readonly CronAccount[];
  readonly snapshot: SinkSnapshot;
  /** Instants up to here are looked at, epoch milliseconds. */
  readonly end: number;
}

export interface OracleReport {
  readonly occurrences: number;
  /** Which instants, as run ids; so that whoever else misses them too counts them once. */
  readonly missed: readonly string[];
  readonly doubled: readonly string[];
  readonly staleAccepted: number;
  readonly transactionalDuplicates: number;
  readonly askRepeated: number;
  readonly controlDuplicates: number;
  /** Acts of runs that did not run by what the ledger says, and runs that failed: nothing in chaos makes one fail. */
  readonly unexplained: readonly string[];
}

/** Which effects a run of each cron has, as its sink knows them. */
const EFFECTS: Readonly<Record<string, readonly string[]>> = {
  'chaos-fenced': ['write'],
  'chaos-keyed': ['charge', 'receipt'],
  'chaos-parting': ['charge'],
  'chaos-asked': ['pay'],
  'chaos-items': ['a', 'b', 'c', 'd', 'e', 'f'].map((item) => `items/${item}`),
  'chaos-booked': ['transaction'],
};

/**
 * Holds what the sinks saw against what should have been: the instants of the definitions, and what the ledger says of those
 * without an act. Pure, and with no line of the engine in it but the schedule.
 */
export function consult({ accounts, snapshot, end }: OracleInput): OracleReport {
  const acts = actsByKey(snapshot);
  const judged = accounts.map((account) => judge(account, acts, end));
  const states = new Map(accounts.flatMap(({ runs }) => runs.map((run) => [run.id, run] as const)));
  return {
    occurrences: judged.reduce((sum, { occurrences }) => sum + occurrences, 0),
    missed: judged.flatMap(({ missed }) => missed),
    doubled: doubledIn([...snapshot.fenced, ...snapshot.keyed].map(({ key }) => key)),
    staleAccepted: staleIn(snapshot.fenced),
    transactionalDuplicates: doubledIn(snapshot.booked ?? []).length,
    askRepeated: repeatedIn(snapshot.asked),
    controlDuplicates: snapshot.control.length - new Set(snapshot.control).size,
    unexplained: [...judged.flatMap(({ failed }) => failed), ...strayActs(acts, states)],
  };
}

/** Keys of effects that a sink saw happen, `<run id>/<effect>`. */
function actsByKey({ fenced, keyed, asked, booked }: SinkSnapshot): ReadonlySet<string> {
  return new Set([
    ...[...fenced, ...keyed].map(({ key }) => key),
    ...asked.flatMap(({ run, what }) => (what === 'act' ? [`${run}/pay`] : [])),
    ...(booked ?? []).map((run) => `${run}/transaction`),
  ]);
}

interface Judged {
  readonly occurrences: number;
  readonly missed: readonly string[];
  readonly failed: readonly string[];
}

function judge({ entry, runs, skips }: CronAccount, acts: ReadonlySet<string>, end: number): Judged {
  const { name } = entry.definition;
  const effects = EFFECTS[name] ?? [];
  const byId = new Map(runs.map((run) => [run.id, run]));
  const instants = instantsOf(entry, end).map(({ at }) => at);
  const missed = instants.filter((at) => {
    const id = `${name}@${at}`;
    const run = byId.get(id);
    if (!run) return !skips.some(({ after, through }) => after < at && at <= through);
    return run.state === 'succeeded' && effects.some((effect) => !acts.has(`${id}/${effect}`));
  });
  const failed = runs.flatMap(({ id, state, error }) => (state === 'failed' ? [`${id} failed: ${error}`] : []));
  return { occurrences: instants.length, missed: missed.map((at) => `${name}@${at}`), failed };
}

function doubledIn(keys: readonly string[]): string[] {
  const seen = new Set<string>();
  return keys.filter((key) => seen.size === seen.add(key).size);
}

/** Writes that a row took under a lower fence than one it had taken before. */
function staleIn(acts: SinkSnapshot['fenced']): number {
  const latest = new Map<string, number>();
  return acts.filter(({ row, fence }) => {
    const before = latest.get(row) ?? 0;
    latest.set(row, Math.max(before, fence ?? 0));
    return (fence ?? 0) < before;
  }).length;
}

/** An act needs no leave the first time, and the word that it did not happen each time after. */
function repeatedIn(asked: SinkSnapshot['asked']): number {
  const left = new Map<string, number>();
  let repeated = 0;
  for (const { run, what } of asked) {
    const allowed = left.get(run) ?? 1;
    if (what === 'act' && allowed < 1) repeated += 1;
    else if (what !== 'done') left.set(run, allowed + (what === 'act' ? -1 : 1));
  }
  return repeated;
}

const NEVER_RAN = new Set<Run['state']>(['skipped', 'claimed']);

function strayActs(acts: ReadonlySet<string>, runs: ReadonlyMap<string, Run>): string[] {
  return [...acts].flatMap((key) => {
    const [id = ''] = key.split('/', 1);
    const run = runs.get(id);
    if (!run) return [`${key} has acted, and the ledger has no such run of ${cronOfRun(id)}`];
    return NEVER_RAN.has(run.state) ? [`${key} has acted, and its run is ${run.state}`] : [];
  });
}
