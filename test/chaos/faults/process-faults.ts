import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { between, oneOf, type Range } from '../draw.js';
import type { Fault } from '../fault.js';
import type { Herd, Victim } from './victim.js';

export interface ProcessFaultsOptions {
  readonly herd: Herd;
  /** The longest lease of a process: what stops for longer has been replaced by another when it goes on. */
  readonly leaseMs: number;
  /** What a process may need to end by itself. */
  readonly drainMs?: number;
}

/** @returns whether it was hurt; `ended` when it did not live through it */
export type Hurt = (victim: Victim, random: () => number, signal: AbortSignal) => Promise<boolean | 'ended'>;

/** Of the lease: long enough for somebody else to have taken over, and to be at work. */
const BEYOND = { least: 1.2, most: 2.2 };
/** Of the lease: a pause that is nearly too long, or just too long. */
const AROUND = { least: 0.4, most: 1.1 };
const CLOCK_STEP_MS = { least: -20_000, most: 20_000 };
const CLOCK_WRONG_MS = { least: 500, most: 3_000 };
const DRAIN_MS = 15_000;

/** What happens to processes on any machine, of whatever they are. */
export function processFaults({ herd, leaseMs, drainMs = DRAIN_MS }: ProcessFaultsOptions): Fault[] {
  const hold = (range: Range, random: () => number) => leaseMs * between(range, random);
  const freeze = (range: Range): Hurt => {
    return async (victim, random, signal) => {
      victim.send('SIGSTOP');
      await sleep(systemClock, hold(range, random), signal);
      victim.send('SIGCONT');
      return true;
    };
  };
  return [
    { ...onOne(herd, 'sigkill', killed), weight: 6 },
    { ...onOne(herd, 'sigstop', freeze(BEYOND)), weight: 3 },
    { ...onOne(herd, 'sigstop-short', freeze(AROUND)), weight: 1 },
    { ...onOne(herd, 'sigterm', (victim) => terminated(victim, drainMs)), weight: 2 },
    { kind: 'sigkill-role', target: 'process', weight: 1, strike: (random, signal) => wholeRole(herd, random, signal) },
  ];
}

/** What needs `test/pods/nemesis-hook.ts` in the processes. */
export function hookedFaults({ herd, leaseMs }: ProcessFaultsOptions): Fault[] {
  const block: Hurt = async ({ order }, random, signal) => {
    const forMs = leaseMs * between(BEYOND, random);
    await order?.({ do: 'block', forMs });
    await sleep(systemClock, forMs, signal);
    return order !== undefined;
  };
  const stepClock: Hurt = async ({ order }, random, signal) => {
    await order?.({ do: 'set-clock', aheadMs: Math.round(between(CLOCK_STEP_MS, random)) });
    await sleep(systemClock, between(CLOCK_WRONG_MS, random), signal);
    await order?.({ do: 'set-clock', aheadMs: 0 });
    return order !== undefined;
  };
  return [
    { ...onOne(herd, 'event-loop-blocked', block), weight: 2 },
    { ...onOne(herd, 'process-clock-stepped', stepClock), weight: 1 },
  ];
}

/** One that works is taken, hurt, and let go; none is there in a moment in which all are hurt. */
export function onOne(herd: Herd, kind: string, hurt: Hurt): Fault {
  const strike: Fault['strike'] = async (random, signal) => {
    const victim = oneOf(herd.up(), random);
    if (!victim) return false;
    const held = herd.seize(victim);
    try {
      const outcome = await hurt(victim, random, signal);
      if (outcome === 'ended') await victim.followed?.(signal);
      return outcome !== false;
    } finally {
      held.release();
    }
  };
  return { kind, target: 'process', strike };
}

async function killed(victim: Victim): Promise<'ended'> {
  victim.send('SIGKILL');
  await victim.gone;
  return 'ended';
}

async function terminated(victim: Victim, drainMs: number): Promise<'ended'> {
  victim.send('SIGTERM');
  const late = new AbortController();
  await Promise.race([victim.gone, sleep(systemClock, drainMs, late.signal)]);
  late.abort();
  // As an orchestrator does with one that doesn't end.
  return killed(victim);
}

/** A rack that loses its power: nobody of that kind is left to take over. */
async function wholeRole(herd: Herd, random: () => number, signal: AbortSignal): Promise<boolean> {
  const up = herd.up();
  const role = oneOf(up, random)?.role;
  const victims = up.filter((victim) => victim.role === role);
  const held = victims.map((victim) => herd.seize(victim));
  await Promise.all(victims.map(killed));
  await Promise.all(victims.map(async (victim) => victim.followed?.(signal)));
  for (const one of held) one.release();
  return victims.length > 0;
}
