import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { Chaos, type Strike } from './chaos.js';
import { LEASE_MS, type Pod } from './pod.js';
import { seededRandom } from './seeded-random.js';
import { aPod } from './testing/stage.js';

const NAMES = ['scheduler-1', 'scheduler-2', 'scheduler-3', 'worker-1', 'worker-2'];
const RESTART_MS = 2_500;

interface Blow extends Strike {
  readonly atMs: number;
}

/** Pods that come back by themselves, and a record of all that was done to them. */
class Stage {
  readonly clock = new ManualClock();
  readonly blows: Blow[] = [];
  readonly pods = new Map(NAMES.map((name) => [name, aPod(name)]));
  thawed = 0;
  mostDown = 0;

  constructor(
    private readonly seed: number,
    private readonly isBusy: (pod: Pod) => boolean = () => true,
  ) {}

  chaos(): Chaos {
    const { clock, isBusy } = this;
    return new Chaos({
      clock,
      isBusy,
      random: seededRandom(this.seed),
      pods: () => [...this.pods.values()],
      kill: (name) => {
        this.#set(name, 'killed');
        clock.after(RESTART_MS, () => this.#set(name, 'up'));
      },
      freeze: (name) => this.#set(name, 'frozen'),
      thaw: () => {
        for (const { name, state } of this.pods.values()) if (state === 'frozen') this.#set(name, 'up');
      },
      onStrike: (strike) => this.blows.push({ ...strike, atMs: clock.monotonic() }),
      onThaw: () => (this.thawed += 1),
    });
  }

  get down(): number {
    return [...this.pods.values()].filter(({ state }) => state !== 'up').length;
  }

  #set(name: string, state: Pod['state']): void {
    this.pods.set(name, aPod(name, { state }));
    this.mostDown = Math.max(this.mostDown, this.down);
  }
}

async function strikesWithin(seconds: number, stage: Stage): Promise<readonly Blow[]> {
  const end = new AbortController();
  const over = stage.chaos().run(seconds * 1_000, end.signal);
  await stage.clock.advance(seconds * 1_000);
  end.abort();
  await over;
  return stage.blows;
}

const SEEDS = Array.from({ length: 20 }, (_, seed) => seed);

describe('chaos', () => {
  it.each(SEEDS)(
    'with seed %i strikes within five seconds, one pod at a time, and never in the last five',
    async (seed) => {
      const stage = new Stage(seed);
      const blows = await strikesWithin(60, stage);
      expect(blows.length).toBeGreaterThan(3);
      expect(blows[0]?.atMs).toBeLessThanOrEqual(5_000);
      expect(stage.mostDown).toBe(1);
      for (const { atMs, holdMs } of blows) expect(atMs + holdMs).toBeLessThanOrEqual(55_000);
      expect(stage.down).toBe(0);
    },
  );

  it('strikes within five seconds also when no pod has anything to lose', async () => {
    for (const seed of SEEDS) {
      const stage = new Stage(seed, () => false);
      expect((await strikesWithin(30, stage))[0]?.atMs).toBeLessThanOrEqual(5_000);
    }
  });

  it('strikes at all in a demo of eight seconds', async () => {
    for (const seed of SEEDS) expect((await strikesWithin(8, new Stage(seed))).length).toBeGreaterThan(0);
  });

  it('leaves a demo of five seconds alone', async () => {
    expect(await strikesWithin(5, new Stage(1))).toEqual([]);
  });

  it('kills and freezes, schedulers and workers', async () => {
    const blows = (await Promise.all(SEEDS.map((seed) => strikesWithin(60, new Stage(seed))))).flat();
    const kinds = new Set(blows.map(({ kind, victim }) => `${kind} ${victim.role}`));
    expect([...kinds].toSorted()).toEqual(['freeze scheduler', 'freeze worker', 'kill scheduler', 'kill worker']);
  });

  it('freezes a pod for longer than its lease', async () => {
    const blows = (await Promise.all(SEEDS.map((seed) => strikesWithin(60, new Stage(seed))))).flat();
    const freezes = blows.filter(({ kind }) => kind === 'freeze');
    expect(freezes.length).toBeGreaterThan(0);
    expect(freezes.filter(({ holdMs, victim }) => holdMs <= LEASE_MS[victim.role])).toEqual([]);
  });

  it('makes the same choices with the same seed, and others with another', async () => {
    const choices = async (seed: number) => JSON.stringify(await strikesWithin(60, new Stage(seed)));
    expect(await choices(7)).toBe(await choices(7));
    expect(await choices(7)).not.toBe(await choices(8));
  });

  it('prefers a pod that has something to lose', async () => {
    const busy = new Set(['scheduler-3', 'worker-2']);
    const blows = await strikesWithin(60, new Stage(3, ({ name }) => busy.has(name)));
    expect(new Set(blows.map(({ victim }) => victim.name))).toEqual(busy);
  });

  it('wakes whoever is frozen at once when it is stopped', async () => {
    const seed = SEEDS[0]!;
    const stage = new Stage(seed);
    const stop = new AbortController();
    const over = stage.chaos().run(Infinity, stop.signal);
    while (![...stage.pods.values()].some(({ state }) => state === 'frozen')) await stage.clock.advance(100);
    stop.abort();
    await over;
    expect(stage.down).toBe(0);
    expect(stage.thawed).toBeGreaterThan(0);
  });
});
