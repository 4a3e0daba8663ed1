import { parseFence, type LeaseLostError } from '@fencepost/lease';
import { trustedUntil } from '@fencepost/lease/internal';
import { ManualClock } from '@fencepost/lease/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { flaky, type Flaky } from '../../../../test/support/flaky.js';
import type { AttemptLog } from '@fencepost/ledger';
import { Heartbeat, HeartbeatTimer } from './heartbeat.js';

const TTL_MS = 12_000;
const DEADLINE_MS = trustedUntil(0, TTL_MS);

let clock: ManualClock;
let beats: Flaky<Pick<AttemptLog, 'heartbeat'>>;
let answer: Awaited<ReturnType<AttemptLog['heartbeat']>>;
let cancelled: number;
let lost: LeaseLostError[];
let failures: unknown[];
let heartbeat: Heartbeat;

/** A heartbeat of an attempt whose begin was sent `agoMs` ago. */
function start(agoMs = 0): Heartbeat {
  clock = new ManualClock();
  [answer, cancelled, lost, failures] = ['extended', 0, [], []];
  beats = flaky<Pick<AttemptLog, 'heartbeat'>>({ heartbeat: async () => answer });
  const ledger = Object.assign(new MemoryLedger(clock), { heartbeat: beats.port.heartbeat });
  const attempt = { runId: 'c@1', fence: parseFence('7'), nonce: 'n' };
  const owner = {
    runLeaseLost: (error: LeaseLostError) => void lost.push(error),
    runCancelled: () => void (cancelled += 1),
    heartbeatFailed: (error: unknown) => void failures.push(error),
    beating: () => {},
  };
  const heartbeatTimer = new HeartbeatTimer(clock, TTL_MS / 4);
  heartbeat = new Heartbeat(attempt, { ledger, clock, ttlMs: TTL_MS, heartbeatTimer, owner }, -agoMs);
  heartbeat.start();
  return heartbeat;
}

const reasons = () => lost.map(({ reason }) => reason);

afterEach(() => {
  heartbeat.stop();
  expect(clock.pending).toBe(0);
});

describe('a heartbeat', () => {
  it('extends the run lease every quarter of it, for as long as it takes', async () => {
    start();
    await clock.advance(10 * TTL_MS);
    expect(beats.calls).toHaveLength(40);
    expect([reasons(), failures, heartbeat.isTrusted()]).toEqual([[], [], true]);
  });

  it('has lost the run when the ledger refuses it, and says so once', async () => {
    start();
    answer = 'stale';
    await clock.advance(10 * TTL_MS);
    expect(reasons()).toEqual(['refused']);
    expect(lost[0]?.resource).toBe('c@1');
    expect(beats.calls).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('reports once that its run was cancelled, and continues: the handler may need time to stop', async () => {
    start();
    answer = 'cancelled';
    await clock.advance(10 * TTL_MS);
    expect(cancelled).toBe(1);
    expect(beats.calls).toHaveLength(40);
    expect([reasons(), heartbeat.isTrusted()]).toEqual([[], true]);
  });

  it('has lost a cancelled run when its grace is over and the ledger refuses it', async () => {
    start();
    answer = 'cancelled';
    await clock.advance(TTL_MS);
    answer = 'stale';
    await clock.advance(TTL_MS);
    expect([cancelled, reasons()]).toEqual([1, ['refused']]);
  });

  it('has lost the run at its deadline when a heartbeat hangs', async () => {
    start();
    beats.next('heartbeat', ...Array.from({ length: 9 }, () => 'hang' as const));
    await clock.advance(DEADLINE_MS - 1);
    expect([reasons(), heartbeat.isTrusted()]).toEqual([[], true]);
    await clock.advance(1);
    expect([reasons(), heartbeat.isTrusted()]).toEqual([['expired'], false]);
    expect(clock.pending).toBe(0);
  });

  it('counts its deadline from when the begin was sent, not from its answer', async () => {
    start(2_000);
    beats.next('heartbeat', ...Array.from({ length: 9 }, () => 'hang' as const));
    await clock.advance(DEADLINE_MS - 2_000);
    expect(reasons()).toEqual(['expired']);
  });

  it('counts a heartbeat from when it was sent, also when its answer comes late', async () => {
    start();
    let arrive = () => {};
    beats.next(
      'heartbeat',
      { heldBack: new Promise((resolve) => (arrive = resolve)) },
      'hang',
      'hang',
      'hang',
      'hang',
      'hang',
    );
    await clock.advance(DEADLINE_MS - 100);
    arrive();
    await clock.advance(TTL_MS / 4 + 99);
    expect(reasons()).toEqual([]);
    await clock.advance(1);
    expect(reasons()).toEqual(['expired']);
  });

  it('survives a store that is away for less than its lease, and tells of it', async () => {
    start();
    beats.next('heartbeat', 'fail', 'fail');
    await clock.advance(2 * TTL_MS);
    expect(reasons()).toEqual([]);
    expect(failures).toHaveLength(2);
  });

  it.each([60_000, -60_000])(
    'has lost the run when the wall clock jumps by %i ms: the machine may have slept',
    async (ms) => {
      start();
      clock.jumpWall(ms);
      await clock.advance(TTL_MS / 4);
      expect(reasons()).toEqual(['clock-jump']);
      expect(beats.calls).toEqual([]);
    },
  );

  it('notices a jump as soon as somebody asks whether it can be trusted', () => {
    start();
    clock.jumpWall(60_000);
    expect(heartbeat.isTrusted()).toBe(false);
    expect(reasons()).toEqual(['clock-jump']);
  });
});

/** Timers that come late, as those of a process whose event loop is blocked. */
function blocked(forMs: number): void {
  const real = { monotonic: clock.monotonic.bind(clock), now: clock.now.bind(clock) };
  clock.monotonic = () => real.monotonic() + forMs;
  clock.now = () => real.now() + forMs;
}

describe('a heartbeat behind a blocked event loop', () => {
  it('is not trusted after its deadline, although the timer of the deadline has not come yet', async () => {
    start();
    beats.next('heartbeat', ...Array.from({ length: 9 }, () => 'fail' as const));
    await clock.advance(DEADLINE_MS - 100);
    blocked(100);
    expect(heartbeat.isTrusted()).toBe(false);
    expect(reasons()).toEqual(['expired']);
  });
});
