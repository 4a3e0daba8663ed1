import { existsSync, readFileSync, rmSync } from 'node:fs';
import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { ArmedPoint, Victim } from './victim.js';
import { between, oneOf } from '../draw.js';
import type { Fault } from '../fault.js';
import { onOne, type ProcessFaultsOptions } from './process-faults.js';

/** What the event told at which a process ended or stopped itself. */
export type Hit = Readonly<Record<string, unknown>>;

/** A cron comes due every second or two, and not every pod has part in it. */
const PATIENCE_MS = 6_000;
const LOOK_MS = 20;

/**
 * Has a process end or stop itself at an event.
 * @returns what that told, once it has come to it; `null` when it doesn't, or has no hook to be told by
 */
export async function hitAt(victim: Victim, point: ArmedPoint, signal: AbortSignal): Promise<Hit | null> {
  const { hit, order } = victim;
  if (!order || !hit) return null;
  const off = `${hit}.off`;
  for (const file of [hit, off]) rmSync(file, { force: true });
  await order({ do: 'arm', point });
  const deadline = performance.now() + PATIENCE_MS;
  while (!signal.aborted && performance.now() < deadline && !hitIn(hit)) await sleep(systemClock, LOOK_MS, signal);
  if (!hitIn(hit)) await takenBack(victim, { hit, off });
  return hitIn(hit);
}

/** Until it says so: it may come to the point before it reads that, and whoever is to wake it has to know. */
async function takenBack({ order, gone }: Victim, { hit, off }: { readonly hit: string; readonly off: string }) {
  await order?.({ do: 'arm', point: null });
  const ended = new AbortController();
  void gone.then(() => ended.abort());
  const deadline = performance.now() + PATIENCE_MS;
  while (!ended.signal.aborted && performance.now() < deadline && !hitIn(hit) && !existsSync(off)) {
    await sleep(systemClock, LOOK_MS, ended.signal);
  }
}

/** What is being written is not there yet. */
function hitIn(file: string): Hit | null {
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Hit) : null;
  } catch {
    return null;
  }
}

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
