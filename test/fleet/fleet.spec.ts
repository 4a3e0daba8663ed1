import { candidates, firstOf, hashOf } from '@fencepost/jobs/internal/scheduling';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../simulation/virtual-clock.js';
import { MEASURED } from './costs.js';
import { DayPod } from './day-pod.js';
import { Lateness } from './lateness.js';
import { Placement, podName } from './placement.js';
import { simulateFleet } from './run-fleet.js';
import { Schedules } from './schedules.js';
import { StoreServer } from './store-server.js';

const SHORT = { schedules: 10_000, pods: 10, hours: 2, seed: 1 };

describe('the simulation of a fleet', { timeout: 240_000 }, () => {
  it('keeps all claims through a deploy, a lost zone and a midnight, and tells the same again for the same seed', async () => {
    const report = await simulateFleet(SHORT);
    expect(report.claims.filter(({ holds }) => !holds)).toEqual([]);
    expect(report.ok).toBe(true);
    expect(report.figures).toMatchObject({ lost: 0, zoneLossPods: 4 });
    expect(report.figures['instants']).toBeGreaterThan(SHORT.schedules);
    expect(report.figures['zoneLossLateMaxMs']).toBeGreaterThan(0);
    expect(await simulateFleet(SHORT)).toEqual(report);
  });

  it('fails its claims when a script takes a hundred times as long', async () => {
    const slow = { ...MEASURED, claimUs: 100 * MEASURED.claimUs, acquireUs: 200 * MEASURED.acquireUs };
    const { ok, claims } = await simulateFleet(SHORT, slow);
    expect(ok).toBe(false);
    expect(claims.filter(({ holds }) => !holds).map(({ name }) => name)).toContain('p99 of the lateness, ms');
  });
});

describe('the placement of a fleet', () => {
  it('is that of rendezvous hashing after pods have joined and left, and moves no other schedule', () => {
    const names = Array.from({ length: 2_000 }, (_, n) => `schedule-${n}`);
    const pods = Array.from({ length: 6 }, (_, n) => podName(n));
    const placement = new Placement(names, pods.slice(0, 4));
    const before = placement.owner.slice();
    const moved = placement.change(pods.slice(4), pods.slice(0, 1));
    const live = candidates(pods.slice(1));
    expect([...placement.owner].map((pod) => podName(pod))).toEqual(names.map((name) => firstOf(hashOf(name), live)));
    expect(moved).toEqual(names.flatMap((_, n) => (before[n] === placement.owner[n] ? [] : [n])));
  });
});

describe('a server of the fleet', () => {
  it('does one thing at a time, and lets others in between the scripts of a long call', () => {
    const clock = new VirtualClock(0);
    const server = new StoreServer(clock);
    const done: [string, number][] = [];
    server.serve({ us: 12_000, commands: 12 }, () => done.push(['long', clock.monotonic()]));
    server.serve({ us: 1_000, commands: 1 }, () => done.push(['short', clock.monotonic()]));
    while (clock.step(1_000));
    expect(done.map(([name]) => name)).toEqual(['short', 'long']);
    expect(done[0]?.[1]).toBeCloseTo(7, 5);
    expect(server).toMatchObject({ busyUs: 13_000, commands: 13 });
  });
});

describe('a pod of the fleet', () => {
  it('enqueues each cron that is due once, a burst in slices, and those of others in between', () => {
    const clock = new VirtualClock(0);
    const late = new Lateness();
    const seen: string[] = [];
    const onEnqueued = (crons: readonly string[], dues: readonly number[]) => {
      seen.push(...crons);
      dues.forEach((dueAt) => late.add(clock.monotonic() - dueAt));
    };
    const pod = new DayPod({ clock, server: new StoreServer(clock), costs: MEASURED, onEnqueued });
    for (let n = 0; n < 20_000; n += 1) pod.due(`burst-${n}`, 0);
    while (clock.step(600));
    pod.due('other', 600);
    while (clock.step(60_000));
    expect(new Set(seen).size).toBe(20_001);
    expect(seen).toHaveLength(20_001);
    expect(seen.indexOf('other')).toBeLessThan(15_000);
    expect(pod.waiting).toBe(0);
  });
});

describe('the schedules of a fleet', () => {
  it('are due as often in a day as they say', () => {
    const schedules = new Schedules(3_000, 7);
    let due = 0;
    for (let at = 0; at < 86_400; at += 10) due += [...schedules.due(at)].length;
    expect(due).toBe(schedules.instantsPerDay);
  });
});

describe('lateness', () => {
  it('has the quantiles of what was added', () => {
    const late = new Lateness();
    for (let ms = 1; ms <= 100; ms += 1) late.add(ms);
    expect(late.figures).toEqual({ p50Ms: 50, p99Ms: 99, maxMs: 100 });
  });
});
