import { beforeEach, describe, expect, it } from 'vitest';
import { FenceExhaustedError } from '../base/errors.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import { ManualClock } from '../testing/manual-clock.js';
import { NodeHealth } from './node-health.js';

describe('the health of a node', () => {
  let clock: ManualClock;
  let events: LeaseEvent[];
  let health: NodeHealth;
  let asked: number;

  beforeEach(() => {
    clock = new ManualClock();
    events = [];
    asked = 0;
    health = new NodeHealth({ node: 'a', clock, random: () => 1, observe: (event) => events.push(event) });
  });

  /** One call; without `error` it is answered. */
  const ask = (error?: Error) => {
    const leftOut = health.admit();
    if (leftOut) throw leftOut;
    asked += 1;
    if (error) health.failed(error);
    else health.answered();
  };
  const answers = () => ask();
  const failTimes = (times: number) => {
    for (let n = 0; n < times; n++) ask(new Error('connection refused'));
  };

  it('is asked in vain twice, and left out after the third failure in a row', () => {
    failTimes(2);
    answers();
    failTimes(3);
    expect(answers).toThrow('left out for now, because: connection refused');
    expect(asked).toBe(6);
  });

  it('is tried once after a pause, and asked again when that worked', async () => {
    failTimes(3);
    await clock.advance(1_000);
    answers();
    failTimes(2);
    answers();
    expect(asked).toBe(7);
  });

  it('stays out for another pause when the trial failed', async () => {
    failTimes(3);
    await clock.advance(1_000);
    failTimes(1);
    expect(answers).toThrow('left out');
    expect(asked).toBe(4);
  });

  it('does not suffer from a refusal, which is an answer', () => {
    for (let n = 0; n < 5; n++) ask(new FenceExhaustedError('r'));
    answers();
    expect(asked).toBe(6);
  });

  it('is told at the first answer and at each change', async () => {
    answers();
    answers();
    failTimes(3);
    await clock.advance(1_000);
    failTimes(1);
    await clock.advance(1_000);
    answers();
    expect(events).toEqual([
      { name: 'node.health', node: 'a', healthy: true },
      { name: 'node.health', node: 'a', healthy: false, because: 'connection refused' },
      { name: 'node.health', node: 'a', healthy: true },
    ]);
  });
});
