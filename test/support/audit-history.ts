import { parseFence } from '@fencepost/lease';
import type { CatalogEntry, CronDefinition, CronState, Generation } from '@fencepost/ledger/catalog';
import type { Account } from '@fencepost/ledger';
import type { Run, SkipRange } from '@fencepost/ledger/run';
import { parseSchedule } from '@fencepost/schedule';

export const CRON = 'tick';
export const START = Date.UTC(2026, 2, 2, 8);
export const SECOND = 1_000;
export const HOUR = 3_600_000;

export function definitionOf(over: Partial<CronDefinition> = {}): CronDefinition {
  return {
    name: CRON,
    expression: '* * * * * *',
    timeZone: 'UTC',
    misfire: 'fire-once',
    overlap: 'skip',
    graceMs: 60_000,
    catchUpWindowMs: null,
    ...over,
  };
}

export interface Change extends Partial<CronDefinition> {
  readonly since: number;
  readonly state?: CronState;
  readonly by?: string;
  readonly reason?: string;
}

/** Generations 1, 2, … of one cron. */
export function generationsOf(...changes: readonly Change[]): Generation[] {
  return changes.map(({ since, state = 'active', by = 'a test', reason = null, ...over }, index) => {
    return { generation: index + 1, state, definition: definitionOf(over), since, by, reason };
  });
}

/** The same as the catalog has it. */
export function entryOf(generations: readonly Generation[]): CatalogEntry {
  const newest = generations.at(-1);
  if (!newest) throw new Error('Expected a generation.');
  return { ...newest, past: generations.slice(0, -1), app: 'test', revision: 1, zoneData: 'test' };
}

export function runAt(scheduledAt: number, over: Partial<Run> = {}): Run {
  const cron = over.cron ?? CRON;
  return {
    id: `${cron}@${scheduledAt}`,
    cron,
    scheduledAt,
    dueAt: scheduledAt,
    state: 'succeeded',
    reason: 'schedule',
    skipped: null,
    missed: null,
    generation: 1,
    claimFence: parseFence('1'),
    claimedBy: 'pod/1',
    claimedAt: scheduledAt,
    enqueuedAt: scheduledAt,
    delivery: 1,
    attempt: 1,
    fence: parseFence('1'),
    worker: 'worker/1',
    startedAt: scheduledAt,
    attemptedAt: scheduledAt,
    notBefore: null,
    finishedAt: scheduledAt,
    error: null,
    result: null,
    by: null,
    payload: null,
    handler: null,
    waiting: null,
    priority: null,
    unresolvedEffect: null,
    cancel: null,
    ...over,
  };
}

export const OVERLAPPED: Partial<Run> = { state: 'skipped', skipped: 'overlap', attempt: 0, startedAt: null };
export const WAITING: Partial<Run> = { state: 'enqueued', attempt: 0, startedAt: null, finishedAt: null };
export const CANCELLED: Partial<Run> = { state: 'cancelled', attempt: 0 };

export interface Instant {
  readonly at: number;
  readonly generation: number;
}

/** Every instant that was due by `to`, found one by one: not the way the auditor finds them. */
export function instantsOf(generations: readonly Generation[], to: number): Instant[] {
  return generations.flatMap(({ definition, state, since, generation }, index) => {
    const schedule = parseSchedule({ ...definition, seed: definition.name }, since);
    const until = generations[index + 1]?.since ?? Infinity;
    const found: Instant[] = [];
    let at = state === 'active' ? schedule.next(since) : null;
    while (at !== null && at <= until && at + schedule.spreadMs <= to) {
      found.push({ at, generation });
      at = schedule.next(at);
    }
    return found;
  });
}

/** What became of an instant in a history that is in order. */
export type Fate =
  'ran' | 'waiting' | 'overlap' | 'cancelled' | 'caught-up' | 'merged' | 'misfire' | 'paused' | 'backfilled';
export const FATES: readonly Fate[] = [
  ...(['ran', 'waiting', 'overlap', 'cancelled', 'caught-up', 'merged', 'misfire', 'paused', 'backfilled'] as const),
];
const RUNS: Partial<Record<Fate, Partial<Run>>> = {
  ran: {},
  waiting: WAITING,
  overlap: OVERLAPPED,
  cancelled: CANCELLED,
  'caught-up': { reason: 'catch-up' },
};

/** Every instant accounted for; `fates` are taken in turn. */
export function accountOf(instants: readonly Instant[], fates: readonly Fate[] = ['ran']): Account {
  const [runs, skips]: [Run[], SkipRange[]] = [[], []];
  let before: number | null = null;
  instants.forEach(({ at, generation }, index) => {
    const fate = fates[index % fates.length] ?? 'ran';
    const over = RUNS[fate];
    if (over) runs.push(runAt(at, { generation, ...over }));
    else skips.push({ after: before ?? at - 1, through: at, reason: rangeReason(fate) });
    if (fate === 'backfilled') runs.push(runAt(at, { generation, reason: 'backfill', by: 'somebody' }));
    before = at;
  });
  return { runs, skips, forgotten: null };
}

function rangeReason(fate: Fate): SkipRange['reason'] {
  return fate === 'merged' || fate === 'misfire' ? fate : 'paused';
}
