import { ownerPrefix } from '@fencepost/lease/internal';
import {
  POD_GONE_MS,
  type LiveProcess,
  type Membership,
  type PodCard,
  type PodRegistry,
} from '@fencepost/jobs/internal';
import { listed } from './doctor-words.js';

/** Where live pods are looked for: what they report, and the heartbeats, which former builds send too. */
export interface LivePodPorts {
  readonly pods: Pick<PodRegistry, 'look'>;
  readonly membership: Pick<Membership, 'processes'>;
}

export interface LivePods {
  /** By identity. */
  readonly pods: readonly PodCard[];
  /** Live processes without a report, as they are shown; `null`: unknown, the heartbeats can't be read. */
  readonly unreported: readonly string[] | null;
}

/** @throws what the store throws when the reports can't be read */
export async function readLivePods({ pods, membership }: LivePodPorts): Promise<LivePods> {
  const [reading, processes] = await Promise.all([pods.look(), membership.processes().catch(() => null)]);
  return { pods: reading.pods, unreported: processes && namesOf(unreportedOf(processes, reading.pods)) };
}

/** Of a former build, or started a moment ago. */
export function unreportedOf(processes: readonly LiveProcess[], pods: readonly Pick<PodCard, 'pod'>[]): LiveProcess[] {
  const reported = new Set(pods.map(({ pod }) => pod));
  return processes.filter(({ process }) => !reported.has(process));
}

export function namesOf(processes: readonly LiveProcess[]): string[] {
  return processes.map(({ process }) => ownerPrefix(process));
}

/** @param names at least one */
export function unreportedText(names: readonly string[]): string {
  const isOne = names.length === 1;
  const subject = isOne ? 'A live process does not report' : `${names.length} live processes do not report`;
  const why = `${isOne ? 'It runs' : 'They run'} an earlier release without OperationsModule, or started a moment ago`;
  return `${subject}: ${listed(names)}. ${why}, so roles and handlers are unknown.`;
}

/** live: heard lately. silent: no longer heard. gone: not among the pods. unknown: nothing tells. */
export const HOLDER_STATES = ['live', 'silent', 'gone', 'unknown'] as const;

/** What is known of the holder of a lease. */
export interface HolderSign {
  readonly holderState: (typeof HOLDER_STATES)[number];
  /** Time since it was last heard, milliseconds of the store's clock; `null`: it is gone or unknown. */
  readonly holderSilentMs: number | null;
}

/**
 * @param holder all of its identity
 * @param isPod whether only a pod holds such a lease: then its absence proves something
 */
export type SignOf = (holder: string, isPod: boolean) => HolderSign;

/** A pod reports every 5 s: without a sign for this long, it may be gone. */
const SILENT_MS = 8_000;

const UNKNOWN: HolderSign = { holderState: 'unknown', holderSilentMs: null };
const GONE: HolderSign = { holderState: 'gone', holderSilentMs: null };

/** What reports and heartbeats tell of each holder. What can't be read makes holders unknown, and a list of leases doesn't fail for it. */
export async function readHolders({ pods, membership }: LivePodPorts): Promise<SignOf> {
  const [reading, processes] = await Promise.all([
    pods.look().catch(() => null),
    membership.processes().catch(() => null),
  ]);
  const silentMs = new Map((processes ?? []).map(({ process, sinceHeardMs }) => [process, sinceHeardMs]));
  for (const { pod, seenAt } of reading?.pods ?? []) {
    const sinceReport = Math.max(0, (reading?.now ?? 0) - seenAt);
    silentMs.set(pod, Math.min(sinceReport, silentMs.get(pod) ?? Infinity));
  }
  const absent = processes !== null && isSettled(reading) ? GONE : UNKNOWN;
  return (holder, isPod) => {
    const ms = silentMs.get(holder);
    if (ms === undefined) return isPod ? absent : UNKNOWN;
    return { holderState: ms <= SILENT_MS ? 'live' : 'silent', holderSilentMs: ms };
  };
}

function isSettled(reading: Awaited<ReturnType<PodRegistry['look']>> | null): boolean {
  return reading !== null && reading.now - reading.bornAt >= POD_GONE_MS;
}
