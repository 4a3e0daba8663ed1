import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from './recording.js';
import { longestStall, type StallInput } from './stall.js';

const S = 1_000_000;

function said(second: number, event: string, detail: RecordedEvent['detail']): RecordedEvent {
  return { at: second * S, process: 'p', event, detail: { cron: 'c', ...detail } };
}

const claimed = (second: number, runId = `c@${second}`) => said(second, 'occurrence.claimed', { runId });
const blocked = (second: number) => said(second, 'occurrence.skipped', { scheduledAt: second, reason: 'overlap' });
const begun = (second: number, runId: string) => said(second, 'attempt.begun', { runId, attempt: 1 });
const ended = (second: number, runId: string) => said(second, 'attempt.succeeded', { runId, attempt: 1 });

function stall(events: readonly RecordedEvent[], over: Partial<StallInput> = {}) {
  return longestStall({ events, allowing: new Set(), superseded: new Set(), from: 0, until: 100 * S, ...over });
}

describe('the longest stall', () => {
  it('lasts from the first instant that is blocked until the cron begins something', () => {
    expect(stall([claimed(1), blocked(2), blocked(3), begun(7, 'c@1')])).toEqual({ cron: 'c', ms: 5_000 });
  });

  it('lasts until the pods were stopped when nothing begins any more', () => {
    expect(stall([claimed(1), blocked(2)], { until: 20 * S })).toEqual({ cron: 'c', ms: 18_000 });
  });

  it('counts from when all was healed', () => {
    expect(stall([claimed(1), blocked(2), begun(9, 'c@1')], { from: 6 * S }).ms).toBe(3_000);
    expect(stall([claimed(1), blocked(2), begun(5, 'c@1')], { from: 6 * S }).ms).toBe(0);
  });

  it('is none while a worker is at work, however long it takes', () => {
    expect(stall([claimed(1), begun(2, 'c@1'), blocked(3), blocked(30), ended(31, 'c@1')]).ms).toBe(0);
  });

  it('takes an attempt that never reported its end for nobody at work', () => {
    expect(stall([claimed(1), begun(2, 'c@1'), blocked(3), begun(8, 'c@8')]).ms).toBe(5_000);
  });

  it('is there too when a line stands still behind its head', () => {
    expect(stall([claimed(1), claimed(2), begun(6, 'c@1')]).ms).toBe(4_000);
    expect(stall([claimed(1), claimed(2), begun(6, 'c@1')], { superseded: new Set(['c@1']) }).ms).toBe(0);
  });

  it('is none of a cron whose runs may go on beside each other', () => {
    expect(stall([claimed(1), claimed(2), begun(6, 'c@1')], { allowing: new Set(['c']) }).ms).toBe(0);
  });
});
