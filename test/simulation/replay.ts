import { drawPlan, type Mishap } from './plan.js';
import { World, type Outcome } from './world.js';

/** All that a world follows from. */
export interface Ask {
  readonly seed: number;
  readonly days: number;
  /** The mishaps that are left, by their index; default: all. */
  readonly only?: readonly number[];
  /** Told each call, answer and mishap, with its time. */
  readonly onLine?: (line: string) => void;
}

export function play({ seed, days, only, onLine }: Ask): Promise<Outcome> {
  const world = new World(drawPlan(seed, { days, ...(only ? { only } : {}) }));
  const { clock, trace } = world;
  if (onLine) trace.onLine = (line) => onLine(`${new Date(clock.now()).toISOString()} ${line}`);
  return world.run();
}

/** The mishaps of a world, in the order of their time. */
export function mishapsOf({ seed, days, only }: Ask): readonly Mishap[] {
  return drawPlan(seed, { days, ...(only ? { only } : {}) }).mishaps;
}

/** What somebody types to see it again. */
export function replayLine({ seed, days, only }: Ask): string {
  return `npm run sim -- --seed ${seed} --days ${days}${only ? ` --only ${only.length === 0 ? 'none' : only.join(',')}` : ''}`;
}
