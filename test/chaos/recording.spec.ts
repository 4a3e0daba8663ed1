import { describe, expect, it } from 'vitest';
import { readRecording } from './recording.js';

const lines = (...all: object[]) => all.map((line) => JSON.stringify({ pod: 'w', pid: 7, ...line })).join('\n');

describe('a recording', () => {
  it('has calls with their answers, and events in the order in which they were told', () => {
    const text = lines(
      { at: 1, call: 1, op: 'begin', input: [{ runId: 'x' }] },
      { at: 3, event: 'attempt.begun', detail: { attempt: 1 } },
      { at: 2, event: 'stalled', detail: {}, pod: 'v' },
      { at: 5, return: 1, output: null },
    );
    const { calls, events } = readRecording(text);
    expect(calls).toEqual([
      { process: 'w/7/0', op: 'begin', input: [{ runId: 'x' }], output: null, calledAt: 1, returnedAt: 5 },
    ]);
    expect(events.map(({ event }) => event)).toEqual(['stalled', 'attempt.begun']);
  });

  it('does not know the outcome of a call that rejected, or whose process ended in it', () => {
    const text = lines(
      { at: 1, call: 1, op: 'begin', input: [] },
      { at: 2, return: 1, error: 'Command timed out' },
      { at: 3, call: 2, op: 'finish', input: [] },
    );
    expect(readRecording(text).calls).toMatchObject([
      { op: 'begin', output: undefined, returnedAt: Infinity },
      { op: 'finish', output: undefined, returnedAt: Infinity },
    ]);
  });

  it('tells a process from an earlier one of the same number', () => {
    const started = { event: 'pod.started', detail: {} };
    const call = { call: 1, op: 'begin', input: [] };
    const text = lines({ at: 1, ...started }, { at: 2, ...call }, { at: 3, ...started }, { at: 4, ...call });
    expect(readRecording(`${text}\n${lines({ at: 5, return: 1, output: 'x' })}`).calls).toMatchObject([
      { calledAt: 4, returnedAt: 5 },
      { calledAt: 2, returnedAt: Infinity },
    ]);
  });

  it('with a hole is refused', () => {
    expect(() => readRecording('{"at":1,')).toThrow(SyntaxError);
    expect(() => readRecording(lines({ at: 1, return: 4, output: null }))).toThrow('before its return');
  });
});
