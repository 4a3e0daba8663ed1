import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { between } from '../chaos/draw.js';
import type { Fault } from '../chaos/fault.js';
import type { Victim } from '../chaos/faults/victim.js';
import type { Crew } from './crew.js';
import type { AtWork, Sink } from './sink.js';

export interface WorkFaultsOptions {
  readonly crew: Crew;
  readonly sink: Sink;
  readonly lockMs: number;
}

/** Of the lock: somebody else has taken over by then, and has had the time to write. */
const FROZEN = { least: 1.6, most: 2.4 };
const LOOK_MS = 15;
const MAX_HUNT_MS = 8_000;
/** A process that was sent SIGSTOP may get something out yet; after this it has. */
const SETTLED_MS = 50;

/**
 * What a process meets in the middle of its work. A pause that strikes anybody at any time finds nobody at it mostly; it is
 * looked for who has just begun, in the same way with every peer.
 */
export function workFaults(options: WorkFaultsOptions): Fault[] {
  const { crew, lockMs } = options;
  return [
    hunting('frozen-at-work', options, {
      strike: async (victim, at, { random, signal }) => {
        victim.send('SIGSTOP');
        await sleep(systemClock, SETTLED_MS, signal);
        const isInTheMiddle = (await options.sink.atWork())?.execution === at.execution;
        if (isInTheMiddle) await sleep(systemClock, lockMs * between(FROZEN, random), signal);
        victim.send('SIGCONT');
        return isInTheMiddle;
      },
    }),
    hunting('killed-at-work', options, {
      strike: async (victim) => {
        victim.send('SIGKILL');
        await victim.gone;
        return true;
      },
    }),
    {
      kind: 'rolling-restart',
      target: 'process',
      weight: 1,
      strike: (_random, signal) => rollingRestart(crew, signal),
    },
  ];
}

interface Chance {
  readonly random: () => number;
  readonly signal: AbortSignal;
}

interface Hunt {
  /** @returns whether it was in the middle of its work; if not, it is tried again */
  readonly strike: (victim: Victim, at: AtWork, chance: Chance) => Promise<boolean>;
}

function hunting(kind: string, { crew, sink }: WorkFaultsOptions, hunt: Hunt): Fault {
  const strike: Fault['strike'] = async (random, signal) => {
    const end = performance.now() + MAX_HUNT_MS;
    // Who is at it when it begins may be at its end, or gone already.
    let seen = (await sink.atWork())?.execution;
    while (!signal.aborted && performance.now() < end) {
      await sleep(systemClock, LOOK_MS, signal);
      const at = await sink.atWork();
      if (at === null || at.execution === seen) continue;
      seen = at.execution;
      const victim = crew.up().find(({ name }) => name === at.by);
      if (!victim) continue;
      const held = crew.seize(victim);
      try {
        if (await hunt.strike(victim, at, { random, signal })) return true;
      } finally {
        held.release();
      }
    }
    return false;
  };
  return { kind, target: 'process', weight: 3, strike };
}

/** One after the other in each role, as deployments do, and the roles beside each other. */
async function rollingRestart(crew: Crew, signal: AbortSignal): Promise<boolean> {
  const victims = crew.up();
  const roles = new Set(victims.map(({ role }) => role));
  await Promise.all(
    [...roles].map(async (role) => {
      for (const victim of victims.filter((one) => one.role === role)) {
        if (signal.aborted) return;
        const held = crew.seize(victim);
        await crew.replace(victim, signal).finally(() => held.release());
      }
    }),
  );
  return victims.length > 0;
}
