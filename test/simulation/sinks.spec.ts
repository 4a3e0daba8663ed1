import { describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import type { UnresolvedEffect } from '@fencepost/ledger/run';
import { Sinks, type Act } from './sinks.js';

const RUN = 'tick@1893456060000';
const NOW = 1_893_456_060_000;
const MAIL: UnresolvedEffect = { effect: 'ask-mail', item: null, unknownReason: 'lost', since: 0 };

/** By the n-th attempt. */
function act(n: number, name = 'ask-mail', runId = RUN): Act {
  return { runId, key: `${runId}/${name}`, fence: parseFence(`${NOW}00${n}`) };
}

function asking(n: number, unresolvedEffect = MAIL) {
  return { id: RUN, unresolvedEffect, fence: act(n).fence };
}

const CLEAN = { doubled: 0, staleAccepted: 0, askRepeated: 0, controlDuplicates: 0, refused: 0, repeated: 0 };

describe('a row that keeps its fence', () => {
  it('refuses whoever is stale', () => {
    const sinks = new Sinks();
    expect([act(2), act(1), act(2), act(3)].map((one) => sinks.fenced('tick', one))).toEqual([true, false, true, true]);
    expect(sinks.verdict()).toEqual({ ...CLEAN, refused: 1 });
  });

  it('can not tell two runs apart that were given one fence, and says so', () => {
    const sinks = new Sinks();
    sinks.fenced('tick', act(1, 'row'));
    sinks.fenced('tick', act(1, 'row', 'tick@1893456120000'));
    expect(sinks.verdict().staleAccepted).toBe(1);
  });
});

describe('a provider that remembers keys', () => {
  it('does each thing once', () => {
    const sinks = new Sinks();
    expect(sinks.knows(act(1).key)).toBe(false);
    expect([act(1), act(2), act(1)].map((one) => sinks.keyed(one))).toEqual([true, false, false]);
    expect(sinks.knows(act(1).key)).toBe(true);
    expect(sinks.verdict()).toEqual({ ...CLEAN, repeated: 2 });
  });
});

describe('an effect that is known to be done', () => {
  it('is doubled by an attempt that comes later, and not by one that was let in before', () => {
    const sinks = new Sinks();
    sinks.keyed(act(2));
    sinks.settled(act(2));
    sinks.keyed(act(1));
    expect(sinks.verdict().doubled).toBe(0);
    sinks.settled(act(4));
    sinks.keyed(act(3));
    expect(sinks.verdict().doubled).toBe(1);
  });
});

describe('an effect that is to be asked about', () => {
  it('is repeated when nobody was asked', () => {
    const sinks = new Sinks();
    sinks.asked(act(1));
    sinks.asked(act(2));
    expect(sinks.verdict().askRepeated).toBe(1);
  });

  it('may come once more for each attempt in whose name a person said that it has not happened', () => {
    const sinks = new Sinks();
    expect(sinks.answerFor(asking(1))).toEqual({ verdict: 'not-done' });
    expect(sinks.answerFor(asking(1))).toEqual({ verdict: 'not-done' });
    // Whoever was let in before the answer acts after it.
    sinks.asked(act(2));
    sinks.asked(act(1));
    expect(sinks.verdict().askRepeated).toBe(0);
    sinks.asked(act(3));
    expect(sinks.verdict().askRepeated).toBe(1);
  });
});

describe('a ledger that lost its history', () => {
  it('is not blamed for what it can not know, and for everything after', () => {
    const sinks = new Sinks();
    sinks.asked(act(1));
    sinks.settled(act(1));
    sinks.onHistoryLost(NOW);
    // An attempt from before the loss goes on beside the one that does it again.
    sinks.asked(act(2));
    const later = { ...act(2), fence: parseFence(`${NOW + 1}000`) };
    sinks.asked(later);
    expect(sinks.verdict()).toMatchObject({ askRepeated: 0, doubled: 0 });
    sinks.asked(later);
    sinks.settled(later);
    sinks.asked(later);
    expect(sinks.verdict()).toMatchObject({ askRepeated: 2, doubled: 1 });
  });

  it('makes no sink forget a fence or a key', () => {
    const sinks = new Sinks();
    sinks.fenced('tick', act(2));
    sinks.keyed(act(2));
    sinks.onHistoryLost(NOW);
    expect(sinks.fenced('tick', act(1))).toBe(false);
    expect(sinks.keyed(act(3))).toBe(false);
  });
});
