import { describe, expect, it } from 'vitest';
import { isTerminal, nextState, TRANSITIONS, type RunState } from './run-state.js';

const STATES = [...new Set(TRANSITIONS.flatMap(({ from, to }) => (from === null ? [to] : [from, to])))];

describe('the state table', () => {
  it('says one thing about each state and event', () => {
    const pairs = TRANSITIONS.map(({ from, event }) => `${from} + ${event}`);
    expect(new Set(pairs).size).toBe(pairs.length);
  });

  it('leads out of no terminal state, and out of every other one', () => {
    for (const state of STATES) {
      const ways = TRANSITIONS.filter(({ from }) => from === state);
      expect([state, ways.length === 0]).toEqual([state, isTerminal(state)]);
    }
  });

  it('reaches every state from an instant without a record, and from every open state an end', () => {
    expect(reachable(null)).toEqual(new Set(STATES));
    const open = STATES.filter((state) => !isTerminal(state));
    expect(open.filter((state) => ![...reachable(state)].some(isTerminal))).toEqual([]);
  });

  it('lets a run begin only where nobody works on it, or the one who did is gone', () => {
    const open = TRANSITIONS.filter(({ event }) => event === 'begin').map(({ from }) => from);
    expect(open).toEqual(['claimed', 'enqueued', 'orphaned', 'running']);
  });

  it('has no answer for a step it does not know', () => {
    expect(nextState('succeeded', 'fail')).toBeNull();
    expect(nextState(null, 'begin')).toBeNull();
    expect(nextState('running', 'succeed')).toBe('succeeded');
  });

  it('says of each step who causes it, and when', () => {
    for (const { when } of TRANSITIONS) expect(when).toMatch(/^[a-zA-Z].{10,}[^.]$/);
  });
});

function reachable(from: RunState | null, seen = new Set<RunState>()): Set<RunState> {
  for (const transition of TRANSITIONS) {
    if (transition.from !== from || seen.has(transition.to)) continue;
    seen.add(transition.to);
    reachable(transition.to, seen);
  }
  return seen;
}
