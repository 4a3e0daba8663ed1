import { describe, expect, it } from 'vitest';
import { countDamage, missing, spanBetween, staleWrites, writtenUntil, type SinkEntry } from './counting.js';
import { FENCEPOST, hindranceOfPgBoss, PLAIN_BULLMQ, type Peer } from './peers.js';
import { torturePeer, type Outcome } from './torture-peer.js';
import { judge, tableOf, unwell } from './verdict.js';

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
});

describe('the span of a torture', () => {
  it('leaves out an instant at each edge', () => {
    expect(spanBetween(10_300, 20_700, 1_000)).toEqual({ from: 12_000, to: 19_000, cadenceMs: 1_000 });
  });
});

/** The kind that hurts for certain: stopped in the middle of its work, until somebody else has taken over. */
const FROZEN = 'frozen-at-work';

const AT_MOST_S = 40;

const PATIENCE_MS = 300_000;

/** Over as soon as somebody was stopped in the middle and has gone on. */
function untilFrozenOnce(peer: Peer): Promise<Outcome> {
  const over = new AbortController();
  return torturePeer(peer, {
    ...{ seed: 7, seconds: AT_MOST_S, calmSeconds: 0, only: [FROZEN], signal: over.signal },
    onStrike: ({ phase }) => phase === 'mended' && over.abort(),
  });
}

describe.concurrent('a process that is stopped in the middle of its work for longer than its lock, and goes on', () => {
  it(
    'does no harm with Fencepost',
    async ({ expect: expectHere }) => {
      const outcome = await untilFrozenOnce(FENCEPOST);
      expectHere(outcome).toMatchObject({ missed: 0, doubled: 0, stale: 0, faults: { [FROZEN]: 1 } });
    },
    PATIENCE_MS,
  );

  it(
    'does the same instant twice with plain BullMQ',
    async ({ expect: expectHere }) => {
      const outcome = await untilFrozenOnce(PLAIN_BULLMQ);
      expectHere(outcome).toMatchObject({ faults: { [FROZEN]: 1 } });
      expectHere(outcome.doubled).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});

describe('a peer that needs a younger node', () => {
  it.each([
    ['20.19.0', '12.38.0', 'needs node ≥ 22.12'],
    ['22.11.0', '12.38.0', 'needs node ≥ 22.12'],
    ['22.12.0', '12.38.0', undefined],
    ['24.0.1', '12.38.0', undefined],
    ['24.0.1', '', 'is not installed'],
  ])('says so on node %s', (node, version, hindrance) => {
    expect(hindranceOfPgBoss(node, version).hindrance).toBe(hindrance);
  });
});

const CALM = { occurrences: 3, missed: 0, doubled: 0, stale: 0 };

const UNHURT = { calm: CALM, version: '1.0.0', occurrences: 20, missed: 0, doubled: 0, stale: 0, refused: null };

const OURS: Outcome = { ...UNHURT, name: 'Fencepost', refused: 3, faults: { sigkill: 2 } };

const PEER: Outcome = { ...UNHURT, name: 'a peer', faults: { sigkill: 0, sigstop: 1 } };

const HURT: Outcome = { ...PEER, doubled: 1 };

describe('the verdict over a torture', () => {
  it('holds when Fencepost is unhurt and a peer is not', () => {
    expect(judge([OURS, HURT, PEER])).toEqual({ ok: true, because: [] });
  });

  it.each(['missed', 'doubled', 'stale'] as const)('does not hold when Fencepost has one %s', (kind) => {
    expect(judge([{ ...OURS, [kind]: 1 }, HURT]).ok).toBe(false);
  });

  it('does not hold when the torture hurt nobody: it was too tame', () => {
    expect(judge([OURS, PEER])).toMatchObject({ ok: false, because: [expect.stringContaining('too tame')] });
  });

  it('does not hold when somebody was not struck at all', () => {
    const spared = { ...PEER, name: 'spared', faults: { sigkill: 0 } };
    expect(judge([OURS, HURT, spared])).toEqual({ ok: false, because: ['Nothing struck spared.'] });
  });

  it('does not hold when nothing was to be done meanwhile', () => {
    expect(judge([{ ...OURS, occurrences: 0 }, HURT]).ok).toBe(false);
  });

  it('does not hold without Fencepost', () => {
    expect(judge([HURT]).ok).toBe(false);
  });

  it('says nothing about who could not run', () => {
    expect(judge([OURS, HURT, { name: 'pg-boss', leftOut: 'needs node ≥ 22.12' }]).ok).toBe(true);
  });
});

describe('a peer that came to harm before anything was struck', () => {
  it('is told, because the machine may have been too busy for it', () => {
    const restless = { ...HURT, calm: { ...CALM, missed: 2 } };
    expect(unwell([OURS, restless])).toEqual([expect.stringMatching(/^a peer missed 2, .* too busy/)]);
  });
});

describe('the table', () => {
  it('has a row for each, with why one was left out', () => {
    const lines = tableOf([OURS, HURT, { name: 'pg-boss', leftOut: 'needs node ≥ 22.12' }]).split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[2]?.split('|').map((cell) => cell.trim())).toEqual(
      ['', 'Fencepost', '1.0.0', '20', '0', '0', '0', '3', '2', ''], // every column
    );
    expect(lines[4]).toContain('needs node ≥ 22.12');
  });
});
