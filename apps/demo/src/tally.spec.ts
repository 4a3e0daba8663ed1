import { describe, expect, it } from 'vitest';
import { tally, timesWritten } from './tally.js';
import { aRun, at, evidence, fence, START, written } from './testing/stage.js';

const ALL = [aRun(1), aRun(2), aRun(3)];

describe('a tally of a time in which all went well', () => {
  it('counts one run for each instant of the schedule, and nothing else', () => {
    expect(tally(evidence(ALL))).toEqual({
      occurrences: 3,
      runs: 3,
      duplicates: 0,
      lost: 0,
      waiting: 0,
      staleRejected: 0,
      takeovers: 0,
      lateMsP50: 10,
      lateMsP99: 10,
      skipped: { overlap: 0, merged: 0, misfire: 0, paused: 0, superseded: 0 },
      retried: 0,
      failed: 0,
      repeated: 0,
      writes: 3,
    });
  });

  it('counts no instant after the end, whatever is known of it', () => {
    const { occurrences, runs, waiting } = tally(evidence([...ALL, aRun(4, { state: 'running' })], { end: at(2) }));
    expect({ occurrences, runs, waiting }).toEqual({ occurrences: 2, runs: 2, waiting: 0 });
  });

  it('counts no instant before the cron was defined, not even one that ran under an earlier definition', () => {
    const { occurrences, runs, duplicates } = tally(evidence(ALL, { since: at(1) }));
    expect({ occurrences, runs, duplicates }).toEqual({ occurrences: 2, runs: 2, duplicates: 0 });
  });

  it('adds up all crons', () => {
    const [pulse] = evidence(ALL).crons;
    const other = { ...pulse!, cron: 'other', runs: [1, 2, 3].map((n) => aRun(n, { cron: 'other' })), refusals: 2 };
    const all = tally(evidence([], { crons: [pulse!, other], writes: written([...ALL, ...other.runs]) }));
    expect(all).toMatchObject({ occurrences: 6, runs: 6, lost: 0, duplicates: 0, staleRejected: 2 });
  });
});

describe('duplicates', () => {
  it('are seen when the sink accepted an idempotency key twice', () => {
    const journal = [aRun(1), aRun(2), aRun(2), aRun(3)].map(({ id }) => ({
      row: 'row',
      idempotencyKey: `${id}/write`,
      fence: fence(1),
    }));
    expect(tally(evidence(ALL, { writes: timesWritten(journal) })).duplicates).toBe(1);
  });

  it('are seen when an instant has a second run', () => {
    const again = aRun(2, { id: `pulse@${at(2)}-r1` });
    expect(tally(evidence([...ALL, again], { writes: written(ALL) })).duplicates).toBe(1);
  });

  it('are seen when a run stands at an instant that the schedule does not have', () => {
    const between = aRun(2.5);
    expect(tally(evidence([...ALL, between])).duplicates).toBe(1);
  });

  it('are seen when two runs wrote the same effect for one instant, also when the ledger knows of one only', () => {
    const writes = new Map([...written(ALL), [`pulse@${at(2)}-r1/write`, 1] as const]);
    expect(tally(evidence(ALL, { writes })).duplicates).toBe(1);
  });

  it('are not seen where the same run wrote several effects', () => {
    const effects = ['write', 'mail/0', 'mail/1'];
    expect(tally(evidence(ALL, { writes: written(ALL, effects) }))).toMatchObject({ duplicates: 0, lost: 0 });
  });

  it('are not seen in a run by hand, which has an id of its own', () => {
    const writes = new Map([...written(ALL), ['pulse@manual-0199/write', 1] as const]);
    expect(tally(evidence(ALL, { writes })).duplicates).toBe(0);
  });
});

describe('what is lost', () => {
  it('is an instant behind the cursor with neither a run nor a recorded skip', () => {
    expect(tally(evidence([aRun(1), aRun(3)]))).toMatchObject({ runs: 2, lost: 1, waiting: 0 });
  });

  it('is an effect that one succeeded run lacks and another one of the cron has', () => {
    const writes = new Map([...written(ALL, ['write', 'mail'])].filter(([key]) => key !== `pulse@${at(2)}/mail`));
    expect(tally(evidence(ALL, { writes })).lost).toBe(1);
  });

  it('is every effect of a succeeded run that the sink knows nothing of', () => {
    expect(tally(evidence(ALL, { writes: written([aRun(1), aRun(3)], ['a', 'b']) })).lost).toBe(2);
  });

  it('is not an effect of a run that failed', () => {
    const runs = [aRun(1), aRun(2, { state: 'failed' }), aRun(3)];
    const writes = written([aRun(1), aRun(3)]);
    expect(tally(evidence(runs, { writes }))).toMatchObject({ runs: 3, lost: 0, failed: 1 });
  });

  it('is not an effect that only the runs of another cron have', () => {
    const [pulse] = evidence(ALL).crons;
    const other = { ...pulse!, cron: 'other', runs: [1, 2, 3].map((n) => aRun(n, { cron: 'other' })) };
    const writes = new Map([...written(ALL, ['a']), ...written(other.runs, ['b'])]);
    expect(tally(evidence([], { crons: [pulse!, other], writes })).lost).toBe(0);
  });
});

describe('what is waited for', () => {
  it('is an instant beyond the cursor', () => {
    expect(tally(evidence([aRun(1), aRun(2)], { cursor: at(2) }))).toMatchObject({ lost: 0, waiting: 1 });
  });

  it('is everything as long as there is no cursor', () => {
    expect(tally(evidence([], { cursor: null }))).toMatchObject({ lost: 0, waiting: 3 });
  });

  it.each(['claimed', 'enqueued', 'running', 'orphaned'] as const)('is a run that is %s', (state) => {
    expect(tally(evidence([aRun(1), aRun(2, { state }), aRun(3)]))).toMatchObject({ runs: 2, lost: 0, waiting: 1 });
  });
});

describe('a recorded skip', () => {
  it('explains the instants of its range, without the one it begins after', () => {
    const skips = [{ after: at(1), through: at(2), reason: 'merged' } as const];
    const counted = tally(evidence([aRun(3)], { skips }));
    expect(counted).toMatchObject({ runs: 1, lost: 1, skipped: { overlap: 0, merged: 1, misfire: 0 } });
  });

  it('is told by its reason', () => {
    const skips = [
      { after: START, through: at(1), reason: 'misfire' } as const,
      { after: at(1), through: at(2), reason: 'merged' } as const,
    ];
    const overlapping = aRun(3, { state: 'skipped', skipped: 'overlap', attempt: 0, startedAt: null });
    const counted = tally(evidence([overlapping], { skips }));
    expect(counted).toMatchObject({ occurrences: 3, runs: 0, lost: 0, skipped: { overlap: 1, merged: 1, misfire: 1 } });
  });
});

describe('takeovers', () => {
  const claimed = (seconds: number, claimFence: number, claimedBy: string) =>
    aRun(seconds, { claimFence: fence(claimFence), claimedBy });

  it('are counted where the next occurrence was claimed by another holder under another fence', () => {
    const runs = [claimed(1, 1, 'a/1'), claimed(2, 2, 'b/2'), claimed(3, 3, 'a/3')];
    expect(tally(evidence(runs)).takeovers).toBe(2);
  });

  it('are counted in the order of the instants, in whatever order the runs were found', () => {
    const runs = [claimed(3, 2, 'b/2'), claimed(1, 1, 'a/1'), claimed(2, 1, 'a/1')];
    expect(tally(evidence(runs)).takeovers).toBe(1);
  });

  it('are not counted where the fence stayed the same, whatever the holder is called', () => {
    expect(tally(evidence([claimed(1, 1, 'a/1'), claimed(2, 1, 'b/2'), claimed(3, 1, 'b/2')])).takeovers).toBe(0);
  });

  it('are not counted where a holder came back under a new fence', () => {
    expect(tally(evidence([claimed(1, 1, 'a/1'), claimed(2, 2, 'a/1'), claimed(3, 2, 'a/1')])).takeovers).toBe(0);
  });
});

describe('the rest of a tally', () => {
  it('adds what the ledger and what the sink refused as stale, and leaves repetitions out of it', () => {
    const counted = tally(evidence(ALL, { refusals: 2, turnedDown: { stale: 3, repeated: 4 } }));
    expect(counted).toMatchObject({ staleRejected: 5, repeated: 4 });
  });

  it('counts runs that took more than one attempt', () => {
    expect(tally(evidence([aRun(1), aRun(2, { attempt: 3 }), aRun(3)])).retried).toBe(1);
  });

  it('measures lateness from the due instant to the first beginning', () => {
    const late = (seconds: number, ms: number) =>
      aRun(seconds, { startedAt: at(seconds) + ms, attemptedAt: at(seconds) + 9_000 });
    const counted = tally(evidence([late(1, 5), late(2, 700), late(3, 20)]));
    expect([counted.lateMsP50, counted.lateMsP99]).toEqual([20, 700]);
  });

  it('knows of no lateness where nothing began, and of none below zero', () => {
    expect(tally(evidence([])).lateMsP50).toBeNull();
    expect(tally(evidence([aRun(1, { startedAt: at(1) - 3 })])).lateMsP50).toBe(0);
  });
});
