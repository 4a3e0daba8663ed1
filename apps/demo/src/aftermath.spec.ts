import { describe, expect, it } from 'vitest';
import { Aftermath } from './aftermath.js';
import { Archive } from './archive.js';
import { aCron, aRun, aSight, at, holding } from './testing/stage.js';

const BLOW = { pod: 'scheduler-2', what: 'killed scheduler-2', at: at(0) };

function archiveWith(...runs: ReturnType<typeof aRun>[]): Archive {
  const archive = new Archive();
  archive.addRuns('pulse', runs);
  return archive;
}

function held(pulse: string | null, seconds: number, tidy: string | null = null) {
  const cron = (name: string, holder: string | null) =>
    aCron({ name, holding: holder === null ? null : holding(holder) });
  return aSight([cron('pulse', pulse), cron('tidy', tidy)], { at: at(seconds) });
}

describe('after a scheduler was struck', () => {
  it('the sentence says what it held, and then who took that over and after how long', () => {
    const aftermath = new Aftermath();
    const archive = new Archive();
    const blow = aftermath.begin(BLOW, held('scheduler-2/a', 0), archive);
    expect(blow.text).toBe('killed scheduler-2 (held pulse)');
    expect(aftermath.follow(held(null, 1), archive).told).toEqual([]);
    const { told, explained } = aftermath.follow(held('scheduler-3/c', 1.9), archive);
    expect(told).toMatchObject([
      { id: blow.id, text: 'killed scheduler-2 (held pulse) → scheduler-3 took pulse over after 1.9 s' },
    ]);
    expect([...explained]).toEqual(['pulse']);
  });

  it('its own lease, not yet run out, is no takeover', () => {
    const aftermath = new Aftermath();
    aftermath.begin(BLOW, held('scheduler-2/a', 0), new Archive());
    expect(aftermath.follow(held('scheduler-2/a', 1), new Archive()).told).toEqual([]);
  });

  it('the process that was started in its place is somebody else, of the same name', () => {
    const aftermath = new Aftermath();
    aftermath.begin(BLOW, held('scheduler-2/a', 0), new Archive());
    const { told } = aftermath.follow(held('scheduler-2/b', 2.5), new Archive());
    expect(told[0]?.text).toContain('→ the new scheduler-2 took pulse over after 2.5 s');
  });

  it('the sentence grows with each cron that is taken over, and each is told once', () => {
    const aftermath = new Aftermath();
    const archive = new Archive();
    aftermath.begin(BLOW, held('scheduler-2/a', 0, 'scheduler-2/a'), archive);
    aftermath.follow(held('scheduler-1/b', 1, 'scheduler-2/a'), archive);
    const { told } = aftermath.follow(held('scheduler-1/b', 2, 'scheduler-3/c'), archive);
    expect(told[0]?.text).toBe(
      'killed scheduler-2 (held pulse, tidy) → scheduler-1 took pulse over after 1.0 s; scheduler-3 took tidy over after 2.0 s',
    );
    expect(aftermath.follow(held('scheduler-2/d', 3, 'scheduler-2/d'), archive).told).toEqual([]);
  });

  it('a change of holder half a minute later has nothing to do with it any more', () => {
    const aftermath = new Aftermath();
    aftermath.begin(BLOW, held('scheduler-2/a', 0), new Archive());
    aftermath.follow(held('scheduler-2/a', 31), new Archive());
    expect(aftermath.follow(held('scheduler-3/c', 32), new Archive()).explained.size).toBe(0);
  });
});

describe('after a worker was struck', () => {
  const blow = { pod: 'worker-1', what: 'froze worker-1 for 4.0 s', at: at(1) };
  const running = aRun(1, { state: 'running' });
  const sight = (seconds: number) => aSight([aCron()], { at: at(seconds) });

  it('the sentence says what it ran, and then who began the next attempt', () => {
    const aftermath = new Aftermath();
    expect(aftermath.begin(blow, sight(1), archiveWith(running)).text).toBe(
      'froze worker-1 for 4.0 s (ran pulse@00:00:01)',
    );
    expect(aftermath.follow(sight(2), archiveWith(aRun(1, { state: 'orphaned' }))).told).toEqual([]);
    const again = aRun(1, { state: 'running', attempt: 2, worker: 'worker-2/b', attemptedAt: at(4.2) });
    expect(aftermath.follow(sight(5), archiveWith(again)).told[0]?.text).toContain(
      '→ worker-2 began attempt 2 of pulse@00:00:01 after 3.2 s',
    );
  });

  it('a run that it ended all the same is followed no further', () => {
    const aftermath = new Aftermath();
    aftermath.begin(blow, sight(1), archiveWith(running));
    expect(aftermath.follow(sight(2), archiveWith(aRun(1))).told).toEqual([]);
    const again = aRun(1, { attempt: 2, worker: 'worker-2/b' });
    expect(aftermath.follow(sight(5), archiveWith(again)).told).toEqual([]);
  });

  it('having work means holding a cron or carrying out a run', () => {
    expect(Aftermath.hasWork('worker-1', sight(1), archiveWith(running))).toBe(true);
    expect(Aftermath.hasWork('worker-2', sight(1), archiveWith(running))).toBe(false);
    expect(Aftermath.hasWork('worker-1', sight(1), archiveWith(aRun(1)))).toBe(false);
    expect(Aftermath.hasWork('scheduler-2', held('scheduler-2/a', 0), new Archive())).toBe(true);
    expect(Aftermath.hasWork('scheduler-3', held('scheduler-2/a', 0), new Archive())).toBe(false);
  });
});
