import { describe, expect, it } from 'vitest';
import type { Outcome } from './torture-peer.js';
import { judge, tableOf, unwell } from './verdict.js';

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
