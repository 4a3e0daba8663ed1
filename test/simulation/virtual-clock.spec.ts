import { describe, expect, it } from 'vitest';
import { runTicks, VirtualClock } from './virtual-clock.js';
import { SimProcess } from './sim-process.js';

function run(clock: VirtualClock, end: number): Promise<void> {
  return runTicks(() => clock.step(end));
}

describe('the virtual clock', () => {
  it('runs timers in the order they are due, and those of one instant as they were started', async () => {
    const clock = new VirtualClock(0);
    const ran: string[] = [];
    for (const [at, name] of [
      [5, 'c'],
      [1, 'a'],
      [5, 'd'],
      [3, 'b'],
    ] as const)
      clock.after(at, () => ran.push(name));
    await run(clock, 10);
    expect(ran).toEqual(['a', 'b', 'c', 'd']);
    expect(clock.monotonic()).toBe(10);
  });

  it('ends at what a timer throws', async () => {
    const clock = new VirtualClock(0);
    clock.after(1, () => {
      throw new Error('broken');
    });
    await expect(run(clock, 3)).rejects.toThrow('broken');
  });
});

describe('a simulated process', () => {
  const started = (over: { rate?: number; aheadMs?: number } = {}) => {
    const world = new VirtualClock(1_000_000);
    const process = new SimProcess(world, { name: 'one', rate: 1, aheadMs: 0, ...over });
    const ran: number[] = [];
    return { world, process, ran, in: (ms: number) => process.clock.after(ms, () => ran.push(world.monotonic())) };
  };

  it('has clocks of its own, and none of its timers comes early by them', async () => {
    const { world, process } = started({ rate: 0.9, aheadMs: 5_000 });
    let left = NaN;
    process.clock.after(777, () => (left = process.clock.monotonic() - 777));
    await run(world, 2_000);
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left).toBeLessThan(1);
    expect(process.clock.now()).toBe(1_000_000 + 5_000 + 1_800);
  });

  it('does nothing any more when it is dead', async () => {
    const { world, process, ran, in: after } = started();
    after(10);
    world.after(5, () => process.crash());
    await run(world, 20);
    after(1);
    await run(world, 40);
    expect(ran).toEqual([]);
  });

  it('does all that is late when it is thawed', async () => {
    const { world, process, ran, in: after } = started();
    after(10);
    world.after(5, () => process.freeze());
    world.after(100, () => process.thaw());
    await run(world, 200);
    expect(ran).toEqual([100]);
  });

  it('waits for the rest of its time after its machine has slept', async () => {
    const { world, process, ran, in: after } = started();
    after(10);
    world.after(5, () => process.sleep());
    world.after(105, () => process.thaw());
    await run(world, 200);
    expect(ran[0]).toBeCloseTo(110, 2);
    expect(process.clock.now() - 1_000_000 - process.clock.monotonic()).toBe(100);
  });

  it('comes to harm at the call that was named', () => {
    const { process } = started();
    process.arm(3, () => process.crash());
    process.boundary();
    process.boundary();
    expect(process.state).toBe('runs');
    process.boundary();
    expect(process.state).toBe('dead');
  });
});
