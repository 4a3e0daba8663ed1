import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { Ledger } from '@fencepost/ledger';
import type { Fault } from '../fault.js';
import { hitAt, type Hit } from './arm.js';
import { onOne, type Hurt } from './process-faults.js';
import type { ArmedPoint, Herd } from './victim.js';

export interface LateWordFaultsOptions {
  readonly herd: Herd;
  /** As the pods have it, and seen from outside. */
  readonly ledger: Pick<Ledger, 'readRun' | 'readCron'>;
}

interface LateWord {
  readonly kind: string;
  readonly role: string;
  readonly point: Omit<ArmedPoint, 'action'>;
  /** Whether the ledger has taken somebody else's word for what the one that stopped is about to say. May reject. */
  readonly isReplaced: (hit: Hit) => Promise<boolean>;
}

/** Those whose word is kept by the ledger itself, and that nobody else repeats at once. */
const EFFECTS = ['write', 'charge', 'pay'];
/** What was given up has to be noticed, taken over, and begun. */
const REPLACED_WITHIN_MS = 10_000;
const LOOK_MS = 20;

/**
 * Processes that stop with a word on their lips until somebody else has taken their place; then they go on, and say it. How
 * long that takes is not a matter of leases alone, so that it is looked for: a worker for whom the system outside has acted
 * and the ledger has not heard of it, and a scheduler that has looked at its lease and not yet claimed.
 */
export function lateWordFaults({ herd, ledger }: LateWordFaultsOptions): Fault[] {
  return [
    lateWord(herd, {
      ...{ kind: 'sigstop-until-replaced', role: 'worker', point: { event: 'effect.acted', effects: EFFECTS } },
      isReplaced: async ({ runId, attempt }) => {
        const run = await ledger.readRun(String(runId));
        return run !== null && (run.attempt > Number(attempt) || run.state !== 'running');
      },
    }),
    lateWord(herd, {
      ...{ kind: 'sigstop-until-overtaken', role: 'scheduler', point: { event: 'occurrence.claiming' } },
      isReplaced: async ({ cron, fence }) => Number((await ledger.readCron(String(cron))).fence) > Number(fence),
    }),
  ];
}

function lateWord(herd: Herd, { kind, role, point, isReplaced }: LateWord): Fault {
  const ofRole: Herd = {
    up: () => herd.up().filter((victim) => victim.role === role),
    seize: (victim) => herd.seize(victim),
  };
  const hurt: Hurt = async (victim, _, signal) => {
    const hit = await hitAt(victim, { ...point, action: 'freeze' }, signal);
    const replaced = hit !== null && (await untilReplaced(() => isReplaced(hit), signal));
    victim.send('SIGCONT');
    return replaced;
  };
  return { ...onOne(ofRole, kind, hurt), weight: 2 };
}

async function untilReplaced(isReplaced: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + REPLACED_WITHIN_MS;
  while (!signal.aborted && performance.now() < deadline) {
    await sleep(systemClock, LOOK_MS, signal);
    // A store that is hurt itself does not always answer.
    if (await isReplaced().catch(() => false)) return true;
  }
  return false;
}
