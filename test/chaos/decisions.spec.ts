import { describe, expect, it } from 'vitest';
import { decisionsIn, wayOf, type Decision } from './decisions.js';
import type { RecordedCall } from './recording.js';

function decision(after: number | null, through: number, over: Partial<Decision> = {}): Decision {
  const moment = { process: 'a', calledAt: through, cron: 'tick', generation: 1 };
  return { ...moment, after, through, occurrence: through, skips: [], sure: true, ...over };
}

function claim(verdict: string | undefined, over: object = {}): RecordedCall {
  const request = { cron: 'tick', generation: 1, cursor: 1, occurrence: { scheduledAt: 2 }, skips: [], ...over };
  const output = verdict === undefined ? undefined : { verdict };
  return { process: 'a', op: 'claim', input: [request], output, calledAt: 5, returnedAt: 6 };
}

const steps = (way: readonly Decision[]) => way.map(({ after, through }) => `${after}-${through}`);

describe('decisions', () => {
  it('are the claims that moved a cursor, and those of which nobody heard', () => {
    const calls = ['claimed', 'skipped', 'recorded', 'stale', 'moved', 'stale-definition', 'early', undefined].map(
      (verdict) => claim(verdict),
    );
    expect(decisionsIn(calls).map(({ sure }) => sure)).toEqual([true, true, true, false]);
  });

  it('that only leave instants out lead to the last of these', () => {
    const skips = [{ after: 1, through: 9, reason: 'misfire' }];
    expect(decisionsIn([claim('recorded', { occurrence: null, skips })])).toMatchObject([{ through: 9 }]);
  });
});

describe('the way of a cursor', () => {
  it('leads over claims of which nobody heard where it has to, and over no others', () => {
    const lost = { sure: false };
    const decisions = [
      decision(null, 1),
      decision(1, 2, lost),
      decision(1, 3, lost),
      decision(2, 4),
      decision(4, 9, lost),
    ];
    expect(steps(wayOf(decisions, 4))).toEqual(['null-1', '1-2', '2-4']);
    expect(steps(wayOf(decisions, 9))).toEqual(['null-1', '1-2', '2-4', '4-9']);
  });

  it('goes once over a claim that was sent twice', () => {
    expect(steps(wayOf([decision(null, 1), decision(null, 1)], 1))).toEqual(['null-1']);
  });

  it('prefers the likely one of two of which nobody heard', () => {
    const decisions = [decision(null, 1, { sure: false }), decision(null, 1, { sure: false, generation: 2 })];
    expect(wayOf(decisions, 1, ({ generation }) => generation === 2)).toMatchObject([{ generation: 2 }]);
  });
});
