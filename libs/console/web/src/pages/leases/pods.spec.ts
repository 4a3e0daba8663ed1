import { expect, it } from 'vitest';
import type { JournalEntry, Pod } from '../../data/types.js';
import { figuresOf, podsLike, takeoversIn } from './pods.js';

const pod = (over: Partial<Pod>): Pod =>
  ({
    ...{ pod: 'scheduler-1/a', host: 'node-a', roles: ['scheduler'], held: 10, assigned: 10 },
    ...{ clockSkewMs: 3, lagMs: 12, ...over },
  }) as Pod;

it('the figures of pods are sums, the balance of the schedulers, and the farthest clock', () => {
  const pods = [
    pod({ held: 30, assigned: 20, clockSkewMs: -1_400 }),
    pod({ pod: 'scheduler-2/b' }),
    pod({ pod: 'worker-1/c', roles: ['worker'], held: null, assigned: null, lagMs: 80 }),
  ];
  expect(figuresOf(pods)).toEqual({
    ...{ schedulers: 2, workers: 1, held: 40 },
    ...{ balance: 1.5, clockSkewMs: -1_400, lagMs: 80 },
  });
});

it('what no pod has said is unknown, and not 0', () => {
  expect(figuresOf([])).toMatchObject({ balance: null, clockSkewMs: null, lagMs: null });
});

it('takeovers are counted since a time, and a journal that does not go back so far says so', () => {
  const entry = (event: string, at: string) => ({ event, at }) as JournalEntry;
  const entries = [
    entry('lease.preempted', '2026-11-23T10:00:00.000Z'),
    entry('lease.acquired', '2026-11-23T09:50:00.000Z'),
    entry('lease.lost', '2026-11-23T09:40:00.000Z'),
    entry('lease.lost', '2026-11-23T08:00:00.000Z'),
  ];
  expect(takeoversIn(entries, Date.parse('2026-11-23T09:00:00.000Z'))).toEqual({ count: 2, isWhole: true });
  expect(takeoversIn(entries, Date.parse('2026-11-23T07:00:00.000Z'))).toEqual({ count: 3, isWhole: false });
  expect(takeoversIn([], 0)).toEqual({ count: 0, isWhole: true });
});

it('pods are found by a part of their name or host', () => {
  const pods = [pod({}), pod({ pod: 'worker-1/c', host: 'node-b' })];
  expect(podsLike(pods, ' NODE-B ').map(({ pod: name }) => name)).toEqual(['worker-1/c']);
  expect(podsLike(pods, '')).toHaveLength(2);
});
