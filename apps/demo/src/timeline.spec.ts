import { describe, expect, it } from 'vitest';
import { Archive } from './archive.js';
import { aCron, aRun, at, START } from './testing/stage.js';
import { timeline } from './timeline.js';

function archiveUntil(seconds: number): Archive {
  const archive = new Archive();
  archive.extendInstants('pulse', { schedule: aCron().schedule, since: START, through: at(seconds) });
  return archive;
}

describe('a timeline', () => {
  it.each([
    { state: 'succeeded', attempt: 1, mark: 'succeeded' },
    { state: 'succeeded', attempt: 2, mark: 'retried' },
    { state: 'enqueued', attempt: 0, mark: 'waiting' },
    { state: 'enqueued', attempt: 1, mark: 'retried' },
    { state: 'claimed', attempt: 0, mark: 'waiting' },
    { state: 'running', attempt: 1, mark: 'running' },
    { state: 'orphaned', attempt: 1, mark: 'retried' },
    { state: 'failed', attempt: 3, mark: 'failed' },
    { state: 'skipped', attempt: 0, mark: 'skipped' },
    { state: 'cancelled', attempt: 1, mark: 'failed' },
  ] as const)('shows a run that is $state in attempt $attempt as $mark', ({ state, attempt, mark }) => {
    const archive = archiveUntil(1);
    archive.addRuns('pulse', [aRun(1, { state, attempt })]);
    expect(timeline('pulse', archive, 20)).toEqual([mark]);
  });

  it('shows an instant without a run as waiting, and inside a skipped range as skipped', () => {
    const archive = archiveUntil(3);
    archive.addSkips('pulse', [{ after: START, through: at(2), reason: 'merged' }]);
    expect(timeline('pulse', archive, 20)).toEqual(['skipped', 'skipped', 'waiting']);
  });

  it('shows the newest instants when there are more than wanted', () => {
    const archive = archiveUntil(50);
    archive.addRuns('pulse', [aRun(50)]);
    expect(timeline('pulse', archive, 3)).toEqual(['waiting', 'waiting', 'succeeded']);
    expect(timeline('pulse', archive, 0)).toEqual([]);
  });
});
