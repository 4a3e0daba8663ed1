import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { between, oneOf } from '../draw.js';
import type { Fault } from '../fault.js';
import { hitAt } from './arm.js';
import { onOne, type ProcessFaultsOptions } from './process-faults.js';
import type { Victim } from './victim.js';

/** The moments in which a process that stops knows something that nobody else does, or did something nobody knows of. */
const POINTS: Readonly<Record<string, readonly string[]>> = {
  scheduler: ['occurrence.claiming', 'occurrence.claimed', 'run.enqueued', 'run.confirmed'],
  worker: ['attempt.begun', 'effect.beginning', 'effect.begun', 'effect.acted', 'effect.finished', 'attempt.succeeded'],
};

const BEYOND = { least: 1.2, most: 2.2 };

/** A process that ends or stops exactly between two steps of the protocol; needs the hook in the processes. */
export function pointFaults({ herd, leaseMs }: ProcessFaultsOptions): Fault[] {
  const hurtAt =
    (action: 'kill' | 'freeze') =>
    async (victim: Victim, random: () => number, signal: AbortSignal): Promise<boolean | 'ended'> => {
      const event = oneOf(POINTS[victim.role] ?? [], random);
      if (!event) return false;
      const hit = await hitAt(victim, { event, action }, signal);
      if (hit && action === 'freeze') await sleep(systemClock, leaseMs * between(BEYOND, random), signal);
      return settled(victim, action, hit !== null);
    };
  return [
    { ...onOne(herd, 'sigkill-at-point', hurtAt('kill')), weight: 4 },
    { ...onOne(herd, 'sigstop-at-point', hurtAt('freeze')), weight: 4 },
  ];
}

async function settled(victim: Victim, action: 'kill' | 'freeze', wasHit: boolean): Promise<boolean | 'ended'> {
  if (action === 'freeze') victim.send('SIGCONT');
  if (action === 'freeze' || !wasHit) return wasHit;
  await victim.gone;
  return 'ended';
}
