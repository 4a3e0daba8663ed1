import { describe, expect, it } from 'vitest';
import { Archive } from './archive.js';
import { LEASE_MS } from './pod.js';
import { sceneOf } from './scene.js';
import { aCron, aPod, aRun, aSight, at, fence, holding, START } from './testing/stage.js';

const PODS = [aPod('scheduler-1'), aPod('scheduler-2'), aPod('worker-1')];

function stage(...runs: ReturnType<typeof aRun>[]) {
  const archive = new Archive();
  archive.addRuns('pulse', runs);
  const held = holding('scheduler-1/a', { remainingMs: LEASE_MS.scheduler, fence: fence(7) });
  const sight = aSight([aCron({ holding: held, runs: runs.toReversed() })], { at: at(10) });
  return { archive, sight, pods: PODS, now: at(10) };
}

describe('the scene', () => {
  it('puts each lease beside the pod that holds it, and lets it run out between two looks', () => {
    const seen = stage();
    expect(sceneOf(seen).pods.map(({ leases }) => leases)).toEqual([[{ cron: 'pulse', share: 1, fence: 7 }], [], []]);
    const [first] = sceneOf({ ...seen, now: seen.now + LEASE_MS.scheduler / 4 }).pods;
    expect(first?.leases[0]?.share).toBeCloseTo(0.75);
    const [late] = sceneOf({ ...seen, now: seen.now + 2 * LEASE_MS.scheduler }).pods;
    expect(late?.leases[0]?.share).toBe(0);
  });

  it('puts each run beside the worker that carries it out, as long as it does', () => {
    const { pods } = sceneOf(stage(aRun(1), aRun(2, { state: 'running' })));
    expect(pods[2]).toMatchObject({ running: ['pulse@00:00:02'], ended: 1 });
  });

  it('lists the runs that have begun or will never begin, the newest first, with what they wrote', () => {
    const waiting = aRun(3, { state: 'enqueued', attempt: 0 });
    const skipped = aRun(2, { state: 'skipped', attempt: 0 });
    const seen = stage(aRun(1), skipped, waiting);
    seen.archive.addJournal([{ row: 'r', idempotencyKey: `${aRun(1).id}/mail`, fence: fence(1) }]);
    expect(sceneOf(seen).runs.map(({ run, effects }) => [run.scheduledAt, effects])).toEqual([
      [at(2), []],
      [at(1), ['mail']],
    ]);
  });

  it('says when each cron comes next', () => {
    const [cron] = sceneOf({ ...stage(), now: START + 400 }).crons;
    expect(cron).toMatchObject({ name: 'pulse', expression: '* * * * * *', nextInMs: 600 });
  });
});
