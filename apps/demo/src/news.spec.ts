import { describe, expect, it } from 'vitest';
import { Archive } from './archive.js';
import { News } from './news.js';
import { aCron, aRun, aSight, at, holding, START } from './testing/stage.js';

const NOBODY: ReadonlySet<string> = new Set();

function told(news: News, sight: Parameters<News['tell']>[0], archive = new Archive()): string[] {
  return news.tell(sight, archive, NOBODY).map(({ kind, text }) => `${kind}: ${text}`);
}

describe('news of leases', () => {
  it('tell who holds a cron, once', () => {
    const news = new News();
    const sight = aSight([aCron({ holding: holding('scheduler-1/a') })]);
    expect(told(news, sight)).toEqual(['lease: scheduler-1 holds pulse under fence …10']);
    expect(told(news, sight)).toEqual([]);
  });

  it('tell of a takeover, also when nobody held the cron for a while', () => {
    const news = new News();
    told(news, aSight([aCron({ holding: holding('scheduler-1/a') })]));
    expect(told(news, aSight([aCron()]))).toEqual([]);
    const lines = told(news, aSight([aCron({ holding: holding('scheduler-2/b') })]));
    expect(lines).toEqual(['lease: scheduler-2 took pulse over from scheduler-1 under fence …10']);
  });

  it('leave out what is told elsewhere with its cause, and know of it afterwards', () => {
    const news = new News();
    told(news, aSight([aCron({ holding: holding('scheduler-1/a') })]));
    const next = aSight([aCron({ holding: holding('scheduler-2/b') })]);
    expect(news.tell(next, new Archive(), new Set(['pulse']))).toEqual([]);
    expect(told(news, next)).toEqual([]);
  });
});

describe('news of runs', () => {
  it('tell how a run ended, with all that it wrote', () => {
    const archive = new Archive();
    const run = aRun(4, { attempt: 2 });
    archive.addRuns('pulse', [run]);
    archive.addJournal([{ row: 'r', idempotencyKey: `${run.id}/mail`, fence: run.fence! }]);
    expect(told(new News(), aSight([aCron()]), archive)).toEqual([
      'run: pulse@00:00:04 succeeded on worker-1, 10 ms late, attempt 2, fence …000000, wrote mail',
    ]);
  });

  it('tell why a run failed, and for how many missed instants it stood', () => {
    const archive = new Archive();
    const missed = { count: 2, from: at(1), to: at(2) };
    archive.addRuns('pulse', [aRun(3, { state: 'failed', error: 'Error: no', missed })]);
    const [line] = told(new News(), aSight([aCron()]), archive);
    expect(line).toContain('stands for 2 missed instants too, Error: no');
  });

  it('tell why an instant did not run', () => {
    const archive = new Archive();
    archive.addRuns('pulse', [aRun(3, { state: 'skipped', skipped: 'overlap' })]);
    archive.addSkips('pulse', [{ after: START, through: at(2), reason: 'misfire' }]);
    expect(told(new News(), aSight([aCron()]), archive)).toEqual([
      'skip: instants of pulse up to 00:00:02 did not run, from after 00:00:00: too late to catch up',
      'skip: pulse@00:00:03 skipped: the previous run was still going',
    ]);
  });
});

describe('news of refusals', () => {
  it('tell only what has been added since the last look', () => {
    const news = new News();
    const sight = aSight([aCron({ refusals: 1 })], { turnedDown: { stale: 1, repeated: 0 } });
    expect(told(news, sight)).toEqual([
      'refusal: the ledger refused 1 stale call for pulse',
      'refusal: the sink refused 1 stale write',
    ]);
    const next = aSight([aCron({ refusals: 3 })], { turnedDown: { stale: 1, repeated: 1 } });
    expect(told(news, next)).toEqual([
      'refusal: the ledger refused 2 stale calls for pulse',
      'refusal: the sink recognised 1 repeated write and changed nothing',
    ]);
  });
});

describe('news of definitions', () => {
  it('tell when a cron is defined anew, because that is where the counting begins', () => {
    const news = new News();
    const cron = aCron();
    expect(told(news, aSight([cron]))).toEqual([]);
    const anew = aCron({ entry: { ...cron.entry, generation: 2, since: at(5) } });
    expect(told(news, aSight([anew]))).toEqual([
      'note: pulse is defined anew (generation 2); instants before 00:00:05 count no more',
    ]);
    expect(told(news, aSight([anew]))).toEqual([]);
  });
});
