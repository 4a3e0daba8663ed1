import { ownerPrefix } from '@fencepost/lease/internal';
import type { DoctorFacts, DoctorFinding, DoctorFindingLevel, DoctorRule } from './doctor-facts.js';
import { counted, found, listed, took } from './doctor-words.js';
import { grouped } from './grouped.js';
import { standstillsOf, type Standstill } from '../alarms/standstills.js';

type Told = readonly [code: string, level: DoctorFindingLevel, todo: string];

/** Causes that no other rule finds by the stores alone. */
const CAUSES: Readonly<Partial<Record<Standstill['cause'], Told>>> = {
  'handler-hangs': [
    'HANDLER_HANGS',
    'warn',
    'fencepost cancel <run> --reason <words>; then give the job a timeout, or pass its signal on to what it calls.',
  ],
  'store-clock-back': [
    'STORE_CLOCK_BACK',
    'bad',
    "Let NTP set the clock of the store's host. After a long step: fencepost why <cron> shows until when its crons wait.",
  ],
  'ledger-fails': ['CLAIMS_FAIL', 'bad', 'The log of the schedulers has the errors: operation "occurrence.claim".'],
  unclaimed: ['UNCLAIMED', 'bad', '"fencepost pods" and "fencepost leases" show who should claim it.'],
};

/** Crons that stand still, by cause. */
export const STANDSTILL_RULES: readonly DoctorRule[] = [leaseStoreDown, standstills];

/** A moment without an answer is a failover; leases outlive it. */
const DOWN_MS = 5_000;

function leaseStoreDown({ pods }: DoctorFacts): DoctorFinding[] {
  const down = pods.filter(isLeaseStoreDown);
  const [first] = down;
  if (!first) return [];
  const longest = Math.max(...down.map(({ leasesDownMs }) => leasesDownMs ?? 0));
  const stopped = [...standstillsOf(pods).values()].filter(({ cause }) => cause === 'lease-store-down');
  const crons = stopped.length === 0 ? '' : ` Still: ${listed(stopped.map(({ cron }) => cron))}.`;
  const text = `It has failed for ${took(longest)} (${listed(down.map(({ pod }) => ownerPrefix(pod)))}), so no scheduler there can hold a cron: none fires.${crons}`;
  const todo =
    'Make it reachable for the schedulers, or restore its majority; crons go on by themselves then. A longer ttl does not help.';
  return [found('bad', { code: 'LEASE_STORE_DOWN', subject: `leases in ${first.leases ?? 'redis'}`, text, todo })];
}

function isLeaseStoreDown({ leasesDownMs = null }: DoctorFacts['pods'][number]): boolean {
  return leasesDownMs !== null && leasesDownMs > DOWN_MS;
}

function standstills({ pods }: DoctorFacts): DoctorFinding[] {
  const byCause = grouped([...standstillsOf(pods).values()], ({ cause }) => cause);
  return [...byCause.values()].flatMap((those) => {
    const [first] = those;
    const told = first && CAUSES[first.cause];
    if (!told) return [];
    const [code, level, todo] = told;
    const more = those.length === 1 ? '' : `${counted(those.length, 'cron stands', 'crons stand')} still. `;
    const text = `${more}${first.cron}: ${first.text}`;
    return [found(level, { code, subject: listed(those.map(({ cron }) => cron)), text, todo })];
  });
}

/** Whether leases were lost by no fault of the pods that held them. */
export function isStoreAtFault({ pods }: Pick<DoctorFacts, 'pods'>): boolean {
  const isClock = ({ cause }: Standstill) => cause === 'store-clock-back';
  return pods.some(isLeaseStoreDown) || [...standstillsOf(pods).values()].some(isClock);
}
