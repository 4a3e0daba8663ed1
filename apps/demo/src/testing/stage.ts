import { parseSchedule } from '@fencepost/schedule';
import type { Run } from '@fencepost/jobs';
import { parseFence, type Fence } from '@fencepost/lease';
import type { Holding } from '@fencepost/lease/store';
import type { Pod } from '../pod.js';
import type { CronSight, Sight } from '../sight.js';
import type { CronEvidence, Evidence } from '../tally.js';

/** A round second, so that `at(2)` is an instant of a cron that fires every second. */
export const START = Date.UTC(2030, 0, 1);

export function at(seconds: number): number {
  return START + seconds * 1_000;
}

export function fence(n: number): Fence {
  return parseFence(String(n));
}

/** A run of `cron` that succeeded at once, unless told otherwise. */
export function aRun(seconds: number, given: Partial<Run> = {}): Run {
  const { cron = 'pulse', scheduledAt = at(seconds) } = given;
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
    claimFence: fence(10),
    claimedBy: 'scheduler-1/a',
    claimedAt: scheduledAt,
    enqueuedAt: scheduledAt,
    delivery: 1,
    attempt: 1,
    fence: fence(scheduledAt * 1_000),
    worker: 'worker-1/a',
    startedAt: scheduledAt + 10,
    attemptedAt: scheduledAt + 10,
    notBefore: null,
    finishedAt: scheduledAt + 20,
    error: null,
    by: null,
    payload: null,
    handler: null,
    waiting: null,
    priority: null,
    question: null,
    cancel: null,
    ...given,
  };
}

/** Journal counts: `{ 'pulse@…/write': 1 }` for each run and each effect. */
export function written(runs: readonly Run[], effects: readonly string[] = ['write']): Map<string, number> {
  return new Map(runs.flatMap(({ id }) => effects.map((effect) => [`${id}/${effect}`, 1] as const)));
}

/** Evidence of one cron that fires each second and was defined at second 0: all is well unless told otherwise. */
export function evidence(runs: readonly Run[], given: Partial<CronEvidence> & Partial<Evidence> = {}): Evidence {
  const { end = at(3), writes = written(runs), turnedDown = { stale: 0, repeated: 0 }, ...cron } = given;
  const instants = [at(1), at(2), at(3)];
  const pulse = {
    cron: 'pulse',
    generation: 1,
    since: START,
    cursor: at(3),
    instants,
    runs,
    skips: [],
    refusals: 0,
    ...cron,
  };
  return { end, writes, turnedDown, crons: given.crons ?? [pulse] };
}

export function holding(holder: string, given: Partial<Holding> = {}): Holding {
  return { holder, fence: fence(10), remainingMs: 2_000, ...given };
}

/** A cron that fires each second. */
export function aCron(given: Partial<CronSight> = {}): CronSight {
  const { name = 'pulse' } = given;
  const [expression, timeZone] = ['* * * * * *', 'UTC'];
  const policies = { misfire: 'fire-once', overlap: 'skip', graceMs: 60_000, catchUpWindowMs: null } as const;
  return {
    name,
    entry: {
      definition: { name, expression, timeZone, ...policies },
      ...{ generation: 1, state: 'firing', since: START, by: 'demo build 1', reason: null, past: [] },
      ...{ source: 'demo', buildSeq: 1, zoneData: '2026a' },
    },
    schedule: parseSchedule({ expression, timeZone, seed: name }, START),
    holding: null,
    cursor: null,
    refusals: 0,
    runs: [],
    skips: [],
    ...given,
  };
}

export function aSight(crons: readonly CronSight[], given: Partial<Sight> = {}): Sight {
  return { at: START, crons, turnedDown: { stale: 0, repeated: 0 }, ...given };
}

export function aPod(name: string, given: Partial<Pod> = {}): Pod {
  const role = name.startsWith('worker') ? 'worker' : 'scheduler';
  return { name, role, port: 3000, pid: 1, state: 'up', ...given };
}
