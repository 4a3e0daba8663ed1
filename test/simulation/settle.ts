import type { Clock } from '@fencepost/lease';
import { audit } from '@fencepost/operations/audit';
import type { Catalog, CatalogEntry, CronState, Generation } from '@fencepost/ledger/catalog';
import type { Ledger, Account } from '@fencepost/ledger';
import { isTerminal, occurrenceId } from '@fencepost/ledger/run';
import type { Membership } from '@fencepost/jobs/internal';
import type { Run, SkipRange } from '@fencepost/ledger/run';
import { parseSchedule } from '@fencepost/schedule';
import type { Sinks } from './sinks.js';
import type { KnownCron, KnownRun } from './rules/known.js';
import { demand } from './rules/violation.js';

/** A world after all its faults, and after the time that everything may take. */
export interface World {
  readonly ledger: Ledger;
  readonly catalog: Pick<Catalog, 'read'>;
  readonly membership: Pick<Membership, 'lastHeard'>;
  /** The store's clock. */
  readonly clock: Clock;
  /** The systems behind the effects. */
  readonly sinks: Pick<Sinks, 'verdict'>;
  /** What was due longer ago than this has to be accounted for; a quarter of an hour by default. */
  readonly patienceMs?: number;
}

export interface Settled {
  /** Instants that were accounted for, by what became of them. */
  readonly instants: number;
  readonly runs: number;
  readonly attempts: number;
  /** Runs that wait for a person: the only ones that may be open. */
  readonly uncertain: number;
}

const PATIENCE_MS = 15 * 60_000;
const ALL = Number.MAX_SAFE_INTEGER;

/** @throws {Violation} */
export async function settle(world: World, crons: readonly KnownCron[]): Promise<Settled> {
  const { entries } = await world.catalog.read();
  let instants = 0;
  for (const entry of entries) instants += await accountFor(world, entry);
  for (const cron of crons) await checkRecords(world.ledger, cron);
  await checkAudit(world);
  checkSinks(world.sinks);
  const states = new Map(entries.map(({ state, definition: { name } }) => [name, state]));
  for (const cron of crons) await checkOpen(world.ledger, cron, states.get(cron.name));
  const runs = crons.flatMap((cron) => [...cron.runs.values()]);
  return {
    instants,
    runs: runs.length,
    attempts: runs.reduce((sum, { attempt }) => sum + attempt, 0),
    uncertain: runs.filter(({ state }) => state === 'uncertain').length,
  };
}

/** I2, liveness: every instant up to now, but for the last ones, has a run or a recorded skip, and no more than that. */
async function accountFor({ ledger, clock, patienceMs = PATIENCE_MS }: World, entry: CatalogEntry): Promise<number> {
  const { name } = entry.definition;
  const now = clock.now();
  const account = await ledger.account(name, 0, now + 1);
  const { cursor } = await ledger.readCron(name);
  return countInstants(entry, { ...account, cursor, dueBy: now - patienceMs });
}

/**
 * I9, liveness: open is only what waits for a person, or for a worker of a build that is not there any more. Nobody asks
 * about a cron that no process declares and whose tombstone was lost with the catalog.
 * @param state of the cron in the catalog, where it is there
 */
async function checkOpen(ledger: Ledger, { open }: KnownCron, state: CronState | undefined): Promise<void> {
  for (const id of open) {
    const run = await ledger.readRun(id);
    const left = state === undefined || (run?.waiting === 'no-capable-worker' && state !== 'active');
    const waits = run === null || isTerminal(run.state) || run.state === 'uncertain' || left;
    demand(
      waits,
      'I9',
      () => `${id} is still ${run?.state} after everything is healed (${run?.waiting ?? 'not noted'})`,
    );
  }
}

/** I6, I8: at the end, and not only in the replies, every run and every effect is what was promised. */
async function checkRecords(ledger: Ledger, cron: KnownCron): Promise<void> {
  const { forgotten } = await ledger.account(cron.name, 0, 1);
  const records = new Map((await ledger.runs(cron.name, ALL)).map((run) => [run.id, run]));
  for (const known of cron.runs.values()) {
    const record = records.get(known.id);
    if (!record && forgotten !== null && isTerminal(known.state)) continue;
    const same = record?.state === known.state && record.attempt === known.attempt;
    const text = () => `${known.id} is ${record?.state} at ${record?.attempt}, not ${known.state} at ${known.attempt}`;
    demand(same, isTerminal(known.state) ? 'I6' : 'table', text);
    if (known.effects.size > 0) await checkEffects(ledger, known);
  }
  for (const id of records.keys()) demand(cron.runs.has(id), 'I1', () => `nobody was told of the run ${id}`);
}

async function checkEffects(ledger: Ledger, { id, effects }: KnownRun): Promise<void> {
  const recorded = new Map((await ledger.effects(id)).map((effect) => [effect.name, effect]));
  for (const [name, { state, result }] of effects) {
    const record = recorded.get(name);
    const kept = state !== 'done' || (record?.state === 'done' && record.result === result);
    demand(kept, 'I8', () => `${id} has done "${name}" with ${result}, and the ledger has ${record?.state}`);
  }
}

/** Works it out in another way, from the same stores. */
async function checkAudit({ patienceMs = PATIENCE_MS, ...ports }: World): Promise<void> {
  const to = ports.clock.now() - patienceMs;
  const { ok, missed, doubled, unexplained, findings } = await audit(ports, { to });
  const text = () => `missed ${missed}, doubled ${doubled}, unexplained ${unexplained}: ${JSON.stringify(findings[0])}`;
  demand(ok, 'audit', text);
}

/** The control is not held to anything: it shows that there was something to protect from. */
function checkSinks(sinks: World['sinks']): void {
  const { doubled, staleAccepted, askRepeated } = sinks.verdict();
  demand(doubled === 0, 'sinks', () => `${doubled} effects were carried out again after they were known to be done`);
  demand(staleAccepted === 0, 'sinks', () => `${staleAccepted} writes came under a fence that was taken`);
  demand(askRepeated === 0, 'sinks', () => `${askRepeated} effects were repeated without asking`);
}

interface Recorded extends Account {
  readonly cursor: number | null;
  /** Instants that were due up to here have to be behind the cursor. */
  readonly dueBy: number;
}

/**
 * Goes through all instants of a cron one by one, and says how many there were.
 * @throws {Violation} for one that has neither a run nor a recorded skip, or both, or is overdue
 */
function countInstants(entry: CatalogEntry, recorded: Recorded): number {
  const { name } = entry.definition;
  const { cursor, forgotten, dueBy } = recorded;
  const runs = new Map(recorded.runs.map((run) => [run.id, run]));
  const skipOf = finder(recorded.skips);
  let count = 0;
  for (const { at, dueAt } of instantsOf(entry, dueBy)) {
    if (forgotten !== null && at <= forgotten) continue;
    demand(at <= (cursor ?? 0), 'liveness', () => `${name} is at ${cursor}, and ${at} was due at ${dueAt}`);
    checkFate(`${name}@${at}`, runs.get(occurrenceId({ cron: name, scheduledAt: at })), skipOf(at));
    count += 1;
  }
  return count;
}

function checkFate(id: string, run: Run | undefined, skip: SkipRange | undefined): void {
  demand(run !== undefined || skip !== undefined, 'I2', () => `${id} has no run, and no recorded skip`);
  // What was written off may be run later, when somebody asks for it.
  const once = !run || !skip || run.reason === 'backfill';
  demand(once, 'I2', () => `${id} ran (${run?.reason}), and lies in a range that is ${skip?.reason}`);
}

/** For ascending instants. Ranges that overlap account for an instant twice. */
function finder(skips: readonly SkipRange[]): (at: number) => SkipRange | undefined {
  const ranges = skips.toSorted((a, b) => a.after - b.after);
  ranges.forEach(({ after }, n) => {
    const through = ranges[n - 1]?.through ?? 0;
    demand(through <= after, 'I2', () => `a range after ${after} begins before the one through ${through} ends`);
  });
  let n = 0;
  return (at) => {
    while ((ranges[n]?.through ?? Infinity) < at) n += 1;
    const range = ranges[n];
    return range && range.after < at ? range : undefined;
  };
}

interface Instant {
  readonly at: number;
  readonly dueAt: number;
}

/** From the schedules alone, step by step: neither the engine nor the auditor goes this way. */
function instantsOf(entry: CatalogEntry, dueBy: number): Instant[] {
  const generations = [...entry.past, entry];
  return generations.flatMap((generation, n) => {
    return generation.state === 'active' ? stepsOf(generation, generations[n + 1]?.since ?? Infinity, dueBy) : [];
  });
}

function stepsOf({ definition, since }: Generation, until: number, dueBy: number): Instant[] {
  const schedule = parseSchedule({ ...definition, seed: definition.name }, since);
  const found: Instant[] = [];
  for (let at = schedule.next(since); at !== null && at <= until; at = schedule.next(at)) {
    const dueAt = at + schedule.spreadMs;
    if (dueAt > dueBy) break;
    found.push({ at, dueAt });
  }
  return found;
}
