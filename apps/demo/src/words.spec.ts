import { describe, expect, it } from 'vitest';
import { statusLine } from './status-line.js';
import { count, runName, shortFence, span, stopwatch, timeOfDay } from './words.js';

describe('words', () => {
  it('name an instant by its time in UTC', () => {
    expect(timeOfDay(Date.UTC(2030, 5, 1, 14, 2, 3))).toBe('14:02:03');
    expect(runName('pulse', Date.UTC(2030, 5, 1, 14, 2, 3))).toBe('pulse@14:02:03');
  });

  it('shorten a fence to the digits that change', () => {
    expect(shortFence(1_893_456_000_123_456)).toBe('…123456');
    expect(shortFence(null)).toBe('');
  });

  it('say a span so that it is read at a glance', () => {
    expect([span(0), span(12.4), span(999.4), span(1_940)]).toEqual(['0 ms', '12 ms', '999 ms', '1.9 s']);
  });

  it('count in the right number', () => {
    expect([count(0, 'run'), count(1, 'run'), count(2, 'run')]).toEqual(['0 runs', '1 run', '2 runs']);
  });

  it('say how long it has been', () => {
    expect([stopwatch(0), stopwatch(83_999), stopwatch(7_205_000)]).toEqual(['00:00', '01:23', '2:00:05']);
  });
});

describe('the status line', () => {
  const status = { ranMs: 5_000, seconds: null, seed: null };

  it('says how long it has run, how long it will, and how to end it', () => {
    expect(statusLine({ ...status, phase: 'running' })).toBe('00:05 · Ctrl-C ends it');
    const all = statusLine({ phase: 'running', ranMs: 5_000, seconds: 60, seed: 7 });
    expect(all).toBe('00:05 of 01:00 · --chaos --seed 7 · Ctrl-C ends it');
  });

  it('says that a second Ctrl-C does not wait', () => {
    for (const phase of ['settling', 'stopping'] as const) {
      expect(statusLine({ ...status, phase })).toContain('Ctrl-C does not wait');
    }
  });
});
