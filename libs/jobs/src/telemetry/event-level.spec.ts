import { describe, expect, it } from 'vitest';
import { eventLevel } from './event-level.js';
import { EVENT_TEXT } from './event-text.js';
import type { EventName } from './events.js';

describe('eventLevel', () => {
  it.each([
    ['attempt.failed', { state: 'failed' }, 'error'],
    ['attempt.failed', { state: 'enqueued' }, 'warn'],
    ['attempt.aborted', { cause: 'RunCancelledError: Run "a@1" was cancelled while running.' }, 'info'],
    ['attempt.aborted', { cause: 'AttemptTimeoutError: Attempt of run "a@1" timed out after 5 ms.' }, 'warn'],
    ['occurrence.skipped', { reason: 'paused' }, 'info'],
    ['occurrence.skipped', { reason: 'overlap' }, 'warn'],
    ['occurrence.passed', { reason: 'merged', after: 0, through: 2_000 }, 'info'],
    ['occurrence.passed', { reason: 'merged', after: 0, through: 7_200_000 }, 'warn'],
    ['occurrence.passed', { reason: 'misfire', after: 0, through: 2_000 }, 'warn'],
    ['occurrence.passed', { reason: 'superseded', after: 0, through: 2_000 }, 'warn'],
  ] as const)('takes %s %j for %s', (event, detail, level) => {
    expect(eventLevel(event, detail)).toBe(level);
  });

  it('is that of the event where its fields do not decide', () => {
    for (const event of Object.keys(EVENT_TEXT) as EventName[])
      expect([event, eventLevel(event, {})]).toEqual([event, EVENT_TEXT[event][0]]);
  });
});
