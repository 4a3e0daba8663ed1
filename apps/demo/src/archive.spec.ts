import { describe, expect, it } from 'vitest';
import { Archive } from './archive.js';
import { aCron, aRun, at, fence, START } from './testing/stage.js';

const { schedule } = aCron();

function entry(key: string) {
  return { row: 'row', idempotencyKey: key, fence: fence(1) };
}

describe('the archive', () => {
  it('keeps runs that a later look does not show any more', () => {
    const archive = new Archive();
    archive.addRuns('pulse', [aRun(1), aRun(2)]);
    archive.addRuns('pulse', [aRun(2), aRun(3)]);
    expect(archive.runs('pulse').map(({ scheduledAt }) => scheduledAt)).toEqual([at(1), at(2), at(3)]);
  });

  it('knows the latest state of a run', () => {
    const archive = new Archive();
    archive.addRuns('pulse', [aRun(1, { state: 'running' })]);
    expect(archive.openRuns('pulse')).toHaveLength(1);
    archive.addRuns('pulse', [aRun(1)]);
    expect(archive.openRuns('pulse')).toHaveLength(0);
    expect(archive.run('pulse', aRun(1).id)?.state).toBe('succeeded');
  });

  it('keeps the crons apart', () => {
    const archive = new Archive();
    archive.addRuns('pulse', [aRun(1)]);
    archive.addSkips('other', [{ after: START, through: at(1), reason: 'merged' }]);
    expect(archive.runs('other')).toEqual([]);
    expect(archive.skips('pulse')).toEqual([]);
  });

  it('tells of each run and each range once, when it has become final', () => {
    const archive = new Archive();
    archive.addRuns('pulse', [aRun(1), aRun(2, { state: 'running' })]);
    archive.addSkips('pulse', [{ after: START, through: at(1), reason: 'merged' }]);
    expect(archive.takeNew().ended.map(({ id }) => id)).toEqual([aRun(1).id]);
    archive.addRuns('pulse', [aRun(1), aRun(2)]);
    archive.addSkips('pulse', [{ after: START, through: at(1), reason: 'merged' }]);
    expect(archive.takeNew()).toMatchObject({ ended: [{ id: aRun(2).id }], skipped: [] });
  });

  it('counts the runs that each pod has ended, under whatever identity', () => {
    const archive = new Archive();
    archive.addRuns('pulse', [aRun(1), aRun(2, { worker: 'worker-1/b' }), aRun(3, { worker: 'worker-2/c' })]);
    archive.addRuns('pulse', [aRun(2, { worker: 'worker-1/b' }), aRun(4, { state: 'running' })]);
    expect(['worker-1', 'worker-2', 'worker-3'].map((pod) => archive.endedBy(pod))).toEqual([2, 1, 0]);
  });

  it('counts an idempotency key that stands twice in the journal as written twice', () => {
    const archive = new Archive();
    archive.addJournal([entry('pulse@1/write'), entry('pulse@2/write'), entry('pulse@1/write')]);
    expect([...archive.writes]).toEqual([
      ['pulse@1/write', 2],
      ['pulse@2/write', 1],
    ]);
  });

  it('does not count a write again because the journal was read again, nor forget it because it was dropped there', () => {
    const archive = new Archive();
    archive.addJournal([entry('pulse@1/write'), entry('pulse@2/write')]);
    archive.addJournal([entry('pulse@2/write')]);
    expect([...archive.writes.values()]).toEqual([1, 1]);
  });

  it('knows the effects of a run in their order, whatever their names contain', () => {
    const archive = new Archive();
    archive.addJournal([entry('pulse@1/b'), entry('pulse@1/a/1'), entry('pulse@1/b')]);
    expect(archive.effects('pulse@1')).toEqual(['b', 'a/1']);
    expect(archive.effects('pulse@2')).toEqual([]);
  });
});

describe('the instants of a cron', () => {
  it('begin after its definition and go on where they were computed to', () => {
    const archive = new Archive();
    archive.extendInstants('pulse', { schedule, since: START, through: at(2) });
    archive.extendInstants('pulse', { schedule, since: START, through: at(4) });
    expect(archive.instants('pulse')).toEqual([at(1), at(2), at(3), at(4)]);
  });

  it('begin anew when the cron is defined anew', () => {
    const archive = new Archive();
    archive.extendInstants('pulse', { schedule, since: START, through: at(2) });
    archive.extendInstants('pulse', { schedule, since: at(3), through: at(5) });
    expect(archive.instants('pulse')).toEqual([at(4), at(5)]);
  });
});
