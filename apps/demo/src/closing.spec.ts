import { describe, expect, it } from 'vitest';
import { closing, summary, type Course } from './closing.js';
import { tally } from './tally.js';
import { aRun, at, evidence, written } from './testing/stage.js';

const COURSE: Course = { seconds: 3, schedulers: 3, workers: 2, kills: 1, freezes: 2, seed: 7 };
const ALL = [aRun(1), aRun(2), aRun(3)];

describe('the closing line', () => {
  it('has its fields in the promised order, further ones after them', () => {
    const fields = Object.keys(closing(tally(evidence(ALL)), COURSE));
    expect(fields.slice(0, 12)).toEqual([
      ...['ok', 'seconds', 'schedulers', 'workers', 'occurrences', 'runs', 'duplicates', 'missed', 'staleRejected'],
      ...['takeovers', 'lateMsP50', 'lateMsP99'],
    ]);
  });

  it('is ok when every instant ran once', () => {
    expect(closing(tally(evidence(ALL)), COURSE)).toMatchObject({
      ok: true,
      missed: 0,
      duplicates: 0,
      kills: 1,
      seed: 7,
    });
  });

  it('is ok when an instant was skipped for a recorded reason, or a run failed', () => {
    const runs = [aRun(1), aRun(2, { state: 'skipped', skipped: 'overlap' }), aRun(3, { state: 'failed' })];
    const writes = written([aRun(1)]);
    expect(closing(tally(evidence(runs, { writes })), COURSE)).toMatchObject({
      ok: true,
      runs: 2,
      missed: 0,
      failed: 1,
    });
  });

  it('is not ok when the sink accepted a key twice', () => {
    const writes = new Map([...written(ALL), [`pulse@${at(2)}/write`, 2] as const]);
    expect(closing(tally(evidence(ALL, { writes })), COURSE)).toMatchObject({ ok: false, duplicates: 1 });
  });

  it('is not ok when an instant was lost', () => {
    expect(closing(tally(evidence([aRun(1), aRun(3)])), COURSE)).toMatchObject({ ok: false, missed: 1 });
  });

  it('is not ok when a run never ended', () => {
    const runs = [aRun(1), aRun(2), aRun(3, { state: 'running' })];
    expect(closing(tally(evidence(runs)), COURSE)).toMatchObject({ ok: false, missed: 1 });
  });

  it('is not ok when nothing ran, or nothing was written', () => {
    expect(closing(tally(evidence([], { instants: [] })), COURSE)).toMatchObject({ ok: false, missed: 0, runs: 0 });
    expect(closing(tally(evidence(ALL, { writes: new Map() })), COURSE)).toMatchObject({
      ok: false,
      missed: 0,
      runs: 3,
    });
  });
});

describe('the summary for a person', () => {
  it('says first whether all is in order', () => {
    expect(summary(closing(tally(evidence(ALL)), COURSE))[0]).toMatch(/^In order/);
    expect(summary(closing(tally(evidence([aRun(1)])), COURSE))[0]).toMatch(/^Not in order/);
  });

  it('fits into 80 columns', () => {
    const crowded = { kills: 99, freezes: 99, seed: 4_294_967_295, seconds: 86_400, schedulers: 3, workers: 2 };
    const widths = summary(closing(tally(evidence(ALL)), crowded)).map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(80);
  });

  it('says how the same chaos can be had again', () => {
    expect(summary(closing(tally(evidence(ALL)), COURSE)).at(-1)).toContain('--chaos --seed 7');
    expect(summary(closing(tally(evidence(ALL)), { ...COURSE, seed: null })).at(-1)).not.toContain('chaos');
  });
});
