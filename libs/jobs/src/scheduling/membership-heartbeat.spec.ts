import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { POD_TIMING } from '../membership/pod-timing.js';
import type { HeartbeatReply, Membership } from '../membership/membership.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { MembershipHeartbeat } from './membership-heartbeat.js';

/** A pod with nothing due, whose replies come when `reply` is called. */
function quietPod({ isAlone = false } = {}) {
  const clock = new ManualClock(0);
  const sent: string[] = [];
  let answer = () => {};
  const heartbeat = (): Promise<HeartbeatReply> => {
    sent.push('heartbeat');
    const lowest = { format: 1, process: 'a' };
    const reply = {
      now: clock.now(),
      catalogVersion: 1,
      members: [{ pod: 'a', sinceHeardMs: 0 }],
      overdue: [],
      lowest,
      isAlone,
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
    listener: { heartbeatAnswered: () => {}, isQuiet: () => true },
  });
  return { pod, clock, sent, reply: () => answer(), beatsTake: (until: Promise<void>) => void (beats = until) };
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

  it('says nothing between two replies while it is alone, and asks for each as often as before', async () => {
    const { pod, clock, sent, reply } = quietPod({ isAlone: true });
    const started = pod.start();
    reply();
    await started;
    for (let seconds = 0; seconds < 30; seconds += 1) {
      await clock.advance(POD_TIMING.heartbeatMs);
      reply();
    }
    expect(sent).toEqual(Array.from({ length: 1 + 10 }, () => 'heartbeat'));
    await pod.stop();
  });
});
