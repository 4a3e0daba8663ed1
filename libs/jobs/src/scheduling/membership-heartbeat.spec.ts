import { ManualClock } from '@fencepost/lease/testing';
import { QUIET_FORMAT } from '@fencepost/ledger/format';
import { describe, expect, it } from 'vitest';
import { POD_TIMING } from '../membership/pod-timing.js';
import type { HeartbeatReply, Membership } from '../membership/membership.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { MembershipHeartbeat } from './membership-heartbeat.js';

/** A pod with nothing due, whose replies come when `reply` is called. */
function quietPod(format = 1) {
  const clock = new ManualClock(0);
  const sent: string[] = [];
  let answer = () => {};
  let idleMs = Infinity;
  const promised: number[] = [];
  const heartbeat = (_pod: string, _weight?: number, quietMs = 0): Promise<HeartbeatReply> => {
    sent.push('heartbeat');
    promised.push(quietMs);
    const lowest = { format, process: 'a' };
    const reply = {
      now: clock.now(),
      catalogVersion: 1,
      members: [{ pod: 'a', sinceHeardMs: 0 }],
      overdue: [],
      lowest,
    };
    return new Promise((resolve) => (answer = () => resolve(reply)));
  };
  let beats: Promise<void> = Promise.resolve();
  const beat = () => {
    sent.push('beat');
    return beats;
  };
  const pod = new MembershipHeartbeat({
    ...{ ...POD_TIMING, pod: 'a', clock, telemetry: new Telemetry(), random: () => 0, weight: () => 1 },
    membership: { heartbeat, beat, members: async () => [] } as unknown as Membership,
    listener: { heartbeatAnswered: () => {}, idleMs: () => idleMs },
  });
  const isDueIn = (ms: number) => void (idleMs = ms);
  return {
    pod,
    clock,
    sent,
    promised,
    isDueIn,
    reply: () => answer(),
    beatsTake: (until: Promise<void>) => void (beats = until),
  };
}

describe('a heartbeat', () => {
  it('asks for another reply at once when something changed while the last one was under way', async () => {
    const { pod, clock, sent, reply } = quietPod();
    const started = pod.start();
    reply();
    await started;
    await clock.advance(POD_TIMING.heartbeatMs);
    pod.early();
    await clock.advance(50);
    expect(sent.slice(-1)).toEqual(['heartbeat']);
    pod.early();
    reply();
    await clock.advance(0);
    await clock.advance(50);
    expect(sent.slice(-2)).toEqual(['heartbeat', 'heartbeat']);
    reply();
    await pod.stop();
  });

  it('is followed by a sign of life half a second later while the pod works through what is due', async () => {
    const { pod, clock, sent, reply } = quietPod();
    const started = pod.start();
    reply();
    await started;
    await clock.advance(POD_TIMING.heartbeatMs / 2);
    const regular = sent.length;
    await clock.advance(POD_TIMING.heartbeatMs / 2 - 1);
    pod.alive();
    expect(sent).toHaveLength(regular);
    await clock.advance(1);
    pod.alive();
    pod.alive();
    expect(sent.slice(regular)).toEqual(['beat']);
    await pod.stop();
    pod.alive();
    expect(sent.slice(regular)).toEqual(['beat']);
  });

  it('has at most one sign of life under way beside it', async () => {
    const { pod, clock, reply, sent, beatsTake } = quietPod();
    const started = pod.start();
    reply();
    await started;
    let arrive = () => {};
    beatsTake(new Promise((resolve) => (arrive = resolve)));
    for (let halves = 0; halves < 5; halves += 1) {
      await clock.advance(POD_TIMING.heartbeatMs / 2);
      pod.alive();
    }
    // The first by its timer, which waits for it, and one beside it.
    expect(sent).toEqual(['heartbeat', 'beat', 'beat']);
    arrive();
    await pod.stop();
  });

  it('ends with the sign of life beside it: one that arrives after the leave would bring the pod back', async () => {
    const { pod, clock, reply, beatsTake } = quietPod();
    const started = pod.start();
    reply();
    await started;
    let arrive = () => {};
    await clock.advance(POD_TIMING.heartbeatMs / 2);
    beatsTake(new Promise((resolve) => (arrive = resolve)));
    await clock.advance(POD_TIMING.heartbeatMs / 2);
    pod.alive();
    let ended = false;
    const stopped = pod.stop().then(() => (ended = true));
    await clock.advance(0);
    expect(ended).toBe(false);
    arrive();
    await stopped;
  });

  it('asks for no reply while nothing is due and nothing changed', async () => {
    const { pod, clock, sent, reply } = quietPod();
    const started = pod.start();
    reply();
    await started;
    await clock.advance(POD_TIMING.heartbeatMs);
    expect(sent).toEqual(['heartbeat', 'beat']);
    await pod.stop();
  });

  it('says that it comes late while nothing is due, and comes no later than it said', async () => {
    const { pod, clock, sent, promised, reply } = quietPod(QUIET_FORMAT);
    const started = pod.start();
    reply();
    await started;
    for (let seconds = 0; seconds < 60; seconds += 1) {
      await clock.advance(POD_TIMING.heartbeatMs);
      reply();
    }
    // The first reply tells that the others know what a promise is.
    expect(promised.slice(0, 3)).toEqual([0, POD_TIMING.quietMs, POD_TIMING.quietMs]);
    expect(sent.length).toBeLessThanOrEqual(1 + 60 / 5 + 1);
    expect(sent).not.toContain('beat');
    await pod.stop();
  });

  it('promises less where something is due soon, so that a dead pod is suspected before', async () => {
    const { pod, clock, promised, isDueIn, reply } = quietPod(QUIET_FORMAT);
    const started = pod.start();
    reply();
    await started;
    isDueIn(4_500);
    await clock.advance(POD_TIMING.heartbeatMs);
    reply();
    expect(promised).toEqual([0, 2_500]);
    await pod.stop();
  });

  it('comes at once when something is due sooner than it thought', async () => {
    const { pod, clock, sent, isDueIn, reply } = quietPod(QUIET_FORMAT);
    const started = pod.start();
    reply();
    await started;
    await clock.advance(POD_TIMING.heartbeatMs);
    reply();
    isDueIn(2 * POD_TIMING.heartbeatMs);
    await clock.advance(POD_TIMING.heartbeatMs);
    expect(sent).toEqual(['heartbeat', 'heartbeat', 'heartbeat']);
    reply();
    await pod.stop();
  });

  it('promises nothing beside a process that would take a quiet pod for a dead one', async () => {
    const { pod, clock, promised, reply } = quietPod(QUIET_FORMAT - 1);
    const started = pod.start();
    reply();
    await started;
    for (let seconds = 0; seconds < 6; seconds += 1) {
      await clock.advance(POD_TIMING.heartbeatMs);
      reply();
    }
    expect(new Set(promised)).toEqual(new Set([0]));
    await pod.stop();
  });
});
