import { ManualClock } from '@fencepost/lease/testing';
import { membershipContract } from '../../../../test/contracts/membership.contract.js';
import { Company } from './heard-processes.js';
import { ALONE_AFTER_MS } from './membership.js';
import { MemoryMembership } from './memory-membership.js';
import { describe, expect, it } from 'vitest';
import { cadence } from '../../../../test/simulation/cadence.js';
import { POD_TIMING } from './pod-timing.js';

describe('memory membership', () => {
  membershipContract('the memory membership', async () => {
    const clock = new ManualClock();
    let version = 0;
    const membership = new MemoryMembership({ clock, version: () => version });
    return {
      membership,
      elsewhere: membership,
      ofFormat: (format) => membership.ofFormat(format),
      unannounced: async (pod) => membership.beatUnannounced(pod),
      now: async () => clock.now(),
      change: async () => void (version += 1),
      // It was heard just now: time goes on, or back.
      heardAgo: async (_pod, ms) => clock.jumpWall(ms),
      remembered: async () => membership.size,
    };
  });
});

describe('Company', () => {
  it('has had no other while one process speaks, from when it could have heard one', () => {
    const company = new Company();
    expect(company.hasOther('a', 0)).toBe(true);
    for (const at of [1_000, 2_000, 13_000]) company.note('a', at);
    expect(company.hasOther('a', 999)).toBe(true);
    expect(company.hasOther('a', 1_000)).toBe(false);
    expect(company.hasOther('b', 1_000)).toBe(true);
  });

  it('remembers the last sign of the others, whoever of them spoke and however often this one has since', () => {
    const company = new Company();
    for (const [process, at] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['a', 4],
      ['a', 5],
    ] as const)
      company.note(process, at);
    expect([company.hasOther('a', 2), company.hasOther('a', 3)]).toEqual([true, false]);
    company.note('b', 6);
    expect([company.hasOther('a', 5), company.hasOther('b', 4)]).toEqual([true, true]);
    company.clear();
    expect(company.hasOther('a', 6)).toBe(true);
  });
});

describe('memory membership of one process', () => {
  it('calls it alone once no other was heard for long, and no longer when one is heard again', async () => {
    const clock = new ManualClock();
    const membership = new MemoryMembership({ clock, version: () => 0 });
    await membership.heartbeat('a');
    await membership.announce('worker');
    clock.jumpWall(ALONE_AFTER_MS - 1);
    expect((await membership.heartbeat('a')).isAlone).toBe(false);
    clock.jumpWall(1);
    expect((await membership.heartbeat('a')).isAlone).toBe(true);
    await membership.beat('worker', 'process');
    expect((await membership.heartbeat('a')).isAlone).toBe(false);
  });
});

describe('pod timing', () => {
  it('a pod of the simulation waits in the proportions of a real one', () => {
    expect(cadence(POD_TIMING.heartbeatMs).pod).toEqual(POD_TIMING);
  });
});
