import { describe, expect, it } from 'vitest';
import { shadowReport } from '../commands/shadow.js';
import type { ShadowReading, ShadowRecord } from '../jobs.js';
import { compare } from './compare.js';

const START = Date.UTC(2030, 0, 1);
const MINUTE = 60_000;
const CRON = { name: 'report', expression: '* * * * *', timeZone: 'UTC' };

type Recorded = [kind: ShadowRecord['kind'], minute: number, pod: string, plusMs?: number];

/** Minutes after the start, by the clock of the pod. */
function record(...[kind, minute, pod, plusMs = 0]: Recorded): ShadowRecord {
  return { kind, cron: 'report', pod, at: START + minute * MINUTE + plusMs };
}

function compared(records: readonly ShadowRecord[], over: Partial<ShadowReading> = {}) {
  const crons = [{ ...CRON, since: START, until: START + 5 * MINUTE + 10_000 }];
  const [cron] = compare({ crons, intervals: [], records, droppedBefore: null, ...over }, { lateMs: 5_000 });
  if (!cron) throw new Error('Expected a cron.');
  return cron;
}

describe('the comparison of shadow mode', () => {
  const records = [
    ...[record('due', 1, 'a'), record('tick', 1, 'a', 12), record('tick', 1, 'b', -200)],
    ...[record('due', 2, 'b'), record('tick', 2, 'a', 3)],
    ...[record('due', 3, 'a'), record('tick', 3, 'a', 7_000)],
    ...[record('due', 4, 'b'), record('busy', 4, 'a', 2)],
    ...[record('due', 5, 'b'), record('tick', 5, 'b')],
  ];

  it('has the crons by name, and one whose expression changed in the order in which it was watched', () => {
    const watched = [
      { ...CRON, name: 'b', since: START, until: START },
      { ...CRON, expression: '5 * * * *', since: START + MINUTE, until: START + MINUTE },
      { ...CRON, since: START, until: START },
    ];
    const found = compare({ crons: watched, intervals: [], records: [], droppedBefore: null }, { lateMs: 5_000 });
    expect(found.map(({ name, expression }) => [name, expression])).toEqual([
      ['b', '* * * * *'],
      ['report', '* * * * *'],
      ['report', '5 * * * *'],
    ]);
  });

  it('says of each instant whether it was the same, doubled, missed or late, by which pods, and which one Fencepost had taken', () => {
    const { counts, instants } = compared(records);
    expect(counts).toEqual({ same: 2, doubled: 1, missed: 1, late: 1 });
    expect(instants).toEqual([
      {
        ...{ at: START + MINUTE, verdict: 'doubled', busy: [], would: 'a' },
        ran: [
          { pod: 'b', lateByMs: 0 },
          { pod: 'a', lateByMs: 12 },
        ],
      },
      { at: START + 3 * MINUTE, verdict: 'late', ran: [{ pod: 'a', lateByMs: 7_000 }], busy: [], would: 'a' },
      { at: START + 4 * MINUTE, verdict: 'missed', ran: [], busy: ['a'], would: 'b' },
    ]);
  });

  it('judges no instant that was not watched, is not over, or whose records were dropped', () => {
    expect(compared([]).counts).toEqual({ same: 0, doubled: 0, missed: 5, late: 0 });
    const crons = [{ ...CRON, since: START + 1, until: START + 2 * MINUTE + 4_000 }];
    expect(compared([], { crons }).counts.missed).toBe(1);
    expect(compared([], { droppedBefore: START + 4 * MINUTE }).counts.missed).toBe(1);
  });

  it('is one line for a cron and one for each instant that is not the same', () => {
    const { text, code, json } = shadowReport([compared(records)], []);
    expect([code, text(200)]).toEqual([1, expect.arrayContaining([expect.stringMatching(/^report .* 2 +1 +1 +1 /)])]);
    expect(text(200).at(-1)).toBe(
      'report 2030-01-01T00:04:00Z missed: no pod ran it. Left out while the run before went on: a. Fencepost: b.',
    );
    expect(JSON.stringify(json)).toContain('"at":"2030-01-01T00:01:00.000Z","verdict":"doubled"');
    expect(shadowReport([], []).text(200).join(' ')).toContain('shadow: true');
  });
});
