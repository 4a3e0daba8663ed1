import { describe, expect, it } from 'vitest';
import { countDamage, missing, spanBetween, staleWrites, writtenUntil, type SinkEntry } from './counting.js';

const SPAN = { from: 1_000, to: 4_000, cadenceMs: 1_000 };

/** `5b2` is read as: the second try at instant 5 begins; `5w2`: it writes. */
function logOf(text: string): SinkEntry[] {
  return text.split(' ').map((word) => {
    const [, instant, kind, nth] = /^(\d+)([bw])(\d*)$/.exec(word)!;
    return {
      kind: kind === 'b' ? 'begun' : 'written',
      execution: `${instant}.${nth}`,
      instant: Number(instant) * 1_000,
    };
  });
}

describe('what is counted of the sink', () => {
  it('is nothing but the instants when each is written once', () => {
    const damage = countDamage(logOf('1b 1w 2b 2w 3b 3w 4b 4w'), SPAN);
    expect(damage).toEqual({ occurrences: 4, missed: 0, doubled: 0, stale: 0 });
  });

  it('calls an instant missed that was begun and not written', () => {
    const log = logOf('1b 1w 2b 4b 4w');
    expect(missing(log, SPAN)).toEqual([2_000, 3_000]);
    expect(countDamage(log, SPAN)).toMatchObject({ missed: 2, doubled: 0 });
  });

  it('counts an instant as doubled once, however often it was written', () => {
    expect(countDamage(logOf('1b 1w 1b2 1w2 1b3 1w3 2b 2w 3b 3w 4b 4w'), SPAN)).toMatchObject({
      doubled: 1,
      missed: 0,
    });
  });

  it('misses nothing beyond the edges, and excuses nothing there', () => {
    expect(countDamage(logOf('1b 1w 2b 2w 3b 3w 4b 4w 7b 9b 9w 9b2 9w2'), SPAN)).toMatchObject({
      missed: 0,
      doubled: 1,
    });
  });
});

describe('the progress of who works off what is left', () => {
  it('is told by what lay there before the span too, each instant once', () => {
    expect(writtenUntil(logOf('1b 1w 1b2 1w2 2b 2w 3b'), SPAN.to)).toBe(2);
  });

  it('is not told by what is newer: who leaves an instant out goes on for ever', () => {
    expect(writtenUntil(logOf('4b 4w 5b 5w 6b 6w'), SPAN.to)).toBe(1);
  });
});

describe('a stale write', () => {
  it('comes after somebody else has begun the same instant anew', () => {
    expect(staleWrites(logOf('1b 1b2 1w 1w2'))).toEqual(logOf('1w'));
  });

  it('comes after somebody who began later has written a later instant', () => {
    expect(staleWrites(logOf('1b 2b 2w 1w'))).toEqual(logOf('1w'));
  });

  it('is none when the other one has only begun a later instant', () => {
    expect(staleWrites(logOf('1b 2b 1w 2w'))).toEqual([]);
  });

  it('is none when the other one had begun before: it is the older of the two', () => {
    expect(staleWrites(logOf('2b 1b 2w 1w'))).toEqual([]);
  });

  it('is none when an instant is repeated from its beginning, which is a doubled one', () => {
    expect(staleWrites(logOf('1b 1w 1b2 1w2'))).toEqual([]);
  });

  it('is none over an earlier instant that was made up for', () => {
    expect(staleWrites(logOf('2b 1b 1w 2w'))).toEqual([]);
  });
});

describe('the span of a torture', () => {
  it('leaves out an instant at each edge', () => {
    expect(spanBetween(10_300, 20_700, 1_000)).toEqual({ from: 12_000, to: 19_000, cadenceMs: 1_000 });
  });

  it('holds no instant when it is too short', () => {
    expect(countDamage([], spanBetween(10_300, 11_000, 1_000)).occurrences).toBe(0);
  });
});
