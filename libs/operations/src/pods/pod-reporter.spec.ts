import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { card } from '../../../../test/contracts/pod-registry.contract.js';
import { recordedEvents } from '../../../../test/support/recorded-events.js';
import { Telemetry } from '../../../jobs/src/telemetry/telemetry.js';
import { MemoryPodRegistry } from './memory-pod-registry.js';
import { POD_GONE_MS, REPORT_MS, type NewPodCard, type PodRegistry } from './pod-registry.js';
import { PodReporter, type PodFacts } from './pod-reporter.js';

const POD = 'pod-7/0d9f1f6e-3c55-4f7b-9d0a-0a4c6c6b9a11';

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

function reporterTo(to: PodRegistry): PodReporter {
  const { share: _s, held: _h, concurrency: _c, running: _r, handlers: _n, ...rest } = card(POD);
  const { clockSkewMs: _skew, rttMs: _rtt, lagMs: _lag, ...others } = rest;
  const facts: PodFacts = { ...others, roles: ['scheduler', 'worker'] };
  const watchLag = () => {
    watching += 1;
    return { take: () => lag.shift() ?? 0, stop: () => void (watching -= 1) };
  };
  return new PodReporter({ registry: to, clock, telemetry, watchLag, facts });
}

/** A store far away, whose clock is behind, or that fails. */
function away({ wayMs = 0, behindMs = 0, fails = () => false }): PodRegistry {
  return {
    report: async (given: NewPodCard) => {
      await new Promise<void>((resolve) => void clock.after(wayMs, resolve));
      if (fails()) throw new Error('Connection is closed.');
      const now = await registry.report(given);
      await new Promise<void>((resolve) => void clock.after(wayMs, resolve));
      return now - behindMs;
    },
    list: () => registry.list(),
    leave: (pod) => (fails() ? Promise.reject(new Error('Connection is closed.')) : registry.leave(pod)),
  };
}

describe('the reporter of a pod', () => {
  it('says nothing before a role has begun, and costs nothing', async () => {
    await clock.advance(2 * REPORT_MS);
    expect(await registry.list()).toEqual([]);
    expect([clock.pending, watching]).toEqual([0, 0]);
    await reporter.stop();
  });

  it('reports what each role says of itself, anew each time', async () => {
    let held = 1;
    reporter.know(() => ({ share: 4, held }));
    await clock.advance(0);
    expect(await registry.list()).toMatchObject([{ pod: POD, share: 4, held: 1, concurrency: null, handlers: [] }]);
    reporter.know(() => ({ concurrency: 10, running: 2, handlers: ['nightly'] }));
    await clock.advance(0);
    const worker = { concurrency: 10, running: 2, handlers: ['nightly'] };
    expect(await registry.list()).toMatchObject([{ share: 4, held: 1, ...worker }]);
    held = 3;
    await clock.advance(REPORT_MS);
    expect(await registry.list()).toMatchObject([{ held: 3, ...worker }]);
    expect(clock.pending).toBe(1);
    await reporter.stop();
  });

  it('stays on the list for as long as it lives', async () => {
    reporter.know(() => ({}));
    for (let passed = 0; passed < 3 * POD_GONE_MS; passed += REPORT_MS) {
      await clock.advance(REPORT_MS);
      expect(await registry.list()).toHaveLength(1);
    }
    await reporter.stop();
  });

  it('tells from its first report on how far its clock is from that of the store, half the round trip taken off', async () => {
    reporter = reporterTo(away({ wayMs: 20, behindMs: 700 }));
    reporter.know(() => ({}));
    await clock.advance(80);
    expect(await registry.list()).toMatchObject([{ clockSkewMs: 700, rttMs: 40 }]);
    await reporter.stop();
  });

  it('tells how late the event loop was since the report before', async () => {
    lag = [12.345, 3];
    reporter.know(() => ({}));
    await clock.advance(REPORT_MS);
    expect(await registry.list()).toMatchObject([{ lagMs: 12.35 }]);
    await clock.advance(REPORT_MS);
    expect(await registry.list()).toMatchObject([{ lagMs: 3 }]);
    await reporter.stop();
  });

  it('goes on when the store fails, and says so', async () => {
    const events = recordedEvents(telemetry);
    let failing = true;
    reporter = reporterTo(away({ fails: () => failing }));
    reporter.know(() => ({}));
    await clock.advance(REPORT_MS);
    expect(events.of('store.failed')[0]).toMatchObject({ operation: 'pod.report' });
    failing = false;
    await clock.advance(REPORT_MS);
    expect(await registry.list()).toHaveLength(1);
    failing = true;
    await reporter.stop();
    expect(events.of('store.failed').at(-1)?.operation).toBe('pod.leave');
  });

  it('leaves, and nothing of it stays', async () => {
    reporter.know(() => ({}));
    await clock.advance(0);
    await reporter.stop();
    expect(await registry.list()).toEqual([]);
    expect([clock.pending, watching]).toEqual([0, 0]);
    reporter.know(() => ({}));
    await clock.advance(2 * REPORT_MS);
    expect(await registry.list()).toEqual([]);
    expect([clock.pending, watching]).toEqual([0, 0]);
  });

  it('is not brought back by a report that was on its way when it left', async () => {
    reporter = reporterTo(away({ wayMs: 30 }));
    reporter.know(() => ({}));
    await clock.advance(120 + REPORT_MS + 10);
    const stopping = reporter.stop();
    await clock.advance(200);
    await stopping;
    expect(await registry.list()).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
