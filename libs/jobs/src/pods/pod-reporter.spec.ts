import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { Telemetry } from '../telemetry/telemetry.js';
import { card } from '../../../../test/contracts/pod-registry.contract.js';
import { MemoryPodRegistry } from './memory-pod-registry.js';
import { POD_GONE_MS, REPORT_MS, type NewPodCard, type PodRegistry } from './pod-registry.js';
import { PodReporter, type PodFacts, watchLoopLag, ClockComparison } from './pod-reporter.js';
import { libraryVersion } from './library-version.js';

const POD = 'pod-7/0d9f1f6e-3c55-4f7b-9d0a-0a4c6c6b9a11';

type Reported = Pick<PodRegistry, 'report' | 'leave'>;

describe('the reporter of a pod', () => {
  let clock: ManualClock;

  let registry: MemoryPodRegistry;

  let telemetry: Telemetry;

  let lag: number[];

  let watching: number;

  let reporter: PodReporter;

  beforeEach(() => {
    [clock, telemetry, lag, watching] = [new ManualClock(), new Telemetry(), [], 0];
    registry = new MemoryPodRegistry(clock);
    reporter = reporterTo(registry);
  });

  function reporterTo(to: Reported): PodReporter {
    const { assigned: _a, held: _h, concurrency: _c, running: _r, handlers: _n, revision: _v, ...rest } = card(POD);
    const { clockSkewMs: _skew, rttMs: _rtt, lagMs: _lag, ...others } = rest;
    const facts: PodFacts = { ...others, roles: ['scheduler', 'worker'] };
    const watchLag = () => {
      watching += 1;
      return { take: () => lag.shift() ?? 0, stop: () => void (watching -= 1) };
    };
    return new PodReporter({ registry: to, clock, telemetry, watchLag, facts });
  }

  /** A store far away, whose clock is behind, or that fails. */
  function away({ wayMs = 0, behindMs = 0, fails = () => false }): Reported {
    return {
      report: async (given: NewPodCard) => {
        await new Promise<void>((resolve) => void clock.after(wayMs, resolve));
        if (fails()) throw new Error('Connection is closed.');
        const { now, change } = await registry.report(given);
        await new Promise<void>((resolve) => void clock.after(wayMs, resolve));
        return { now: now - behindMs, change };
      },
      leave: (pod) => (fails() ? Promise.reject(new Error('Connection is closed.')) : registry.leave(pod)),
    };
  }

  it('says nothing before a role has begun, and costs nothing', async () => {
    await clock.advance(2 * REPORT_MS);
    expect(await registry.list()).toEqual([]);
    expect([clock.pending, watching]).toEqual([0, 0]);
    await reporter.stop();
  });

  it('reports what each role says of itself, anew each time', async () => {
    let held = 1;
    void reporter.know(() => ({ assigned: 4, held }));
    await clock.advance(0);
    expect(await registry.list()).toMatchObject([{ pod: POD, assigned: 4, held: 1, concurrency: null, handlers: [] }]);
    void reporter.know(() => ({ concurrency: 10, running: 2, handlers: ['nightly'] }));
    await clock.advance(0);
    const worker = { concurrency: 10, running: 2, handlers: ['nightly'] };
    expect(await registry.list()).toMatchObject([{ assigned: 4, held: 1, ...worker }]);
    held = 3;
    await clock.advance(REPORT_MS);
    expect(await registry.list()).toMatchObject([{ held: 3, ...worker }]);
    expect(clock.pending).toBe(1);
    await reporter.stop();
  });

  it('tells the counter of the registry as of its last report, and when a role has been reported', async () => {
    expect(reporter.change).toBeNull();
    const reported = reporter.know(() => ({ revision: 7 }));
    await clock.advance(0);
    await reported;
    const first = reporter.change;
    expect(first).not.toBeNull();
    const { change } = await registry.report(card('other/1'));
    expect(reporter.change).toBe(first);
    await clock.advance(REPORT_MS);
    expect([reporter.change, change === first]).toEqual([change, false]);
    await reporter.stop();
  });

  it('stays on the list for as long as it lives', async () => {
    void reporter.know(() => ({}));
    for (let passed = 0; passed < 3 * POD_GONE_MS; passed += REPORT_MS) {
      await clock.advance(REPORT_MS);
      expect(await registry.list()).toHaveLength(1);
    }
    await reporter.stop();
  });

  it('tells from its first report on how far its clock is from that of the store, half the round trip taken off', async () => {
    reporter = reporterTo(away({ wayMs: 20, behindMs: 700 }));
    void reporter.know(() => ({}));
    await clock.advance(80);
    expect(await registry.list()).toMatchObject([{ clockSkewMs: 700, rttMs: 40 }]);
    await reporter.stop();
  });

  it('tells how late the event loop was since the report before', async () => {
    lag = [12.345, 3];
    void reporter.know(() => ({}));
    await clock.advance(REPORT_MS);
    expect(await registry.list()).toMatchObject([{ lagMs: 12.35 }]);
    await clock.advance(REPORT_MS);
    expect(await registry.list()).toMatchObject([{ lagMs: 3 }]);
    await reporter.stop();
  });

  it('leaves, and nothing of it stays', async () => {
    void reporter.know(() => ({}));
    await clock.advance(0);
    await reporter.stop();
    expect(await registry.list()).toEqual([]);
    expect([clock.pending, watching]).toEqual([0, 0]);
    void reporter.know(() => ({}));
    await clock.advance(2 * REPORT_MS);
    expect(await registry.list()).toEqual([]);
    expect([clock.pending, watching]).toEqual([0, 0]);
  });

  it('is not brought back by a report that was on its way when it left', async () => {
    reporter = reporterTo(away({ wayMs: 30 }));
    void reporter.know(() => ({}));
    await clock.advance(120 + REPORT_MS + 10);
    const stopping = reporter.stop();
    await clock.advance(200);
    await stopping;
    expect(await registry.list()).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

const NOW = Date.UTC(2030, 0, 1);

/** An answer to a question that was sent at a time, to somebody whose clock is so far behind. */
function heard(skewMs: number, { way = 5, back = way }: { readonly way?: number; readonly back?: number } = {}) {
  return { sentAt: NOW + skewMs, rttMs: way + back, theirs: NOW + way };
}

describe('the comparison of two clocks', () => {
  it('takes the answer for one from the middle of the round trip', () => {
    const comparison = new ClockComparison();
    expect(comparison.best).toBeNull();
    comparison.hear(heard(250));
    expect(comparison.best).toEqual({ skewMs: 250, rttMs: 10 });
    comparison.hear(heard(-250));
    expect(comparison.best?.skewMs).toBe(-250);
  });

  it('believes the quickest of the last answers', () => {
    const comparison = new ClockComparison();
    for (const reading of [heard(100, { way: 90, back: 2 }), heard(100, { way: 1 }), heard(100, { way: 2, back: 60 })])
      comparison.hear(reading);
    expect(comparison.best).toEqual({ skewMs: 100, rttMs: 2 });
    for (let n = 0; n < 4; n += 1) comparison.hear(heard(101, { way: 3 }));
    expect(comparison.best).toEqual({ skewMs: 101, rttMs: 6 });
  });
});

/** Keeps the event loop from turning. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Twice: what is due after a block comes in the next turn, and the rest of this one comes before. */
async function turns(): Promise<void> {
  for (let n = 0; n < 2; n += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
}

describe('the lag of the event loop', () => {
  it('is that of the time since it was asked last, without the time that the monitor means to wait', async () => {
    const lag = watchLoopLag();
    await expect
      .poll(async () => {
        block(120);
        await turns();
        return lag.take();
      })
      .toBeGreaterThan(60);
    // Nothing was looked at since.
    expect(lag.take()).toBe(0);
    lag.stop();
  });
});

describe('the version of the library', () => {
  it('is what its package says', () => {
    expect(libraryVersion()).toMatch(/^\d+\.\d+\.\d+/);
  });
});
