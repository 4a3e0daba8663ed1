import type { Standstill } from '../telemetry/standstill.js';

/** What a pod says of itself. */
export interface NewPodCard {
  /** All of its identity, which is also the holder of its leases; screens show its `ownerPrefix`. */
  readonly pod: string;
  /** The part of its identity before the random one. */
  readonly label: string;
  readonly roles: readonly ('scheduler' | 'worker')[];
  readonly host: string;
  readonly pid: number;
  /** Epoch milliseconds of the pod's own clock. */
  readonly startedAt: number;
  /** Of this library. */
  readonly version: string;
  /** Of Node.js. */
  readonly node: string;
  /** Of the time zone database that instants are computed with, such as `2025c`. */
  readonly zoneData: string;
  readonly app: string;
  /** The number that the store gave to the set of definitions that it declares; `null` for a pod that declares nothing. */
  readonly revision: number | null;
  /** The content of its code in few characters, see `codeDigest`; absent where that is not known. */
  readonly code?: string;
  /** Where it records runs: `redis` or `postgres`. */
  readonly ledger: string;
  /** Its clock minus the store's, as far as half a round trip tells; milliseconds. */
  readonly clockSkewMs: number;
  /** The store's quickest reply lately, milliseconds. */
  readonly rttMs: number;
  /** The lateness of the event loop lately, 99th percentile, milliseconds. */
  readonly lagMs: number;
  readonly leaseTtlMs: number;
  /** Of a scheduler: where it keeps the leases of crons, without passwords. Pods with different places acquire each cron twice. */
  readonly leases?: string;
  /** The servers of that, where it is a quorum: whether this pod asks each, or leaves it out because it fails. */
  readonly leaseNodes?: readonly { readonly node: string; readonly healthy: boolean }[];
  /** How many crons are assigned to it; `null` for a pod that is no scheduler. */
  readonly assigned: number | null;
  /** How many it holds; `null` for a pod that is no scheduler. */
  readonly held: number | null;
  /** Of a scheduler: how late the oldest cron is that it has not dispatched, milliseconds, and how many such crons it has. */
  readonly lateMs?: number;
  readonly backlog?: number;
  /** Of a scheduler: its share relative to the others'; below 1 for one that was behind for long. */
  readonly weight?: number;
  /** How many runs it executes at most; `null` for a pod that is no worker. */
  readonly concurrency: number | null;
  /** How many it executes now; `null` for a pod that is no worker. */
  readonly running: number | null;
  /** Of a worker: the crons and jobs it executes. */
  readonly handlers: readonly string[];
  /** Of a worker: the pools that it belongs to. A worker of a former release names none. */
  readonly pools?: readonly string[];
  /** Of a worker: the pool of each handler that is not in the default pool. */
  readonly pooled?: Readonly<Record<string, string>>;
  /** Of a worker: those of them for which a duplicate is damage, `criticality: 'correctness'`. */
  readonly critical?: readonly string[];
  /** With the ledger in Redis: how many replicas must acknowledge what it records. */
  readonly waitReplicas?: number;
  readonly runLeaseMs?: number;
  /** Of a worker: how long it keeps a cron that no live pod of its app declares. */
  readonly removeAfterMs?: number;
  readonly sweepEveryMs?: number;
  /** Of a scheduler: for how long every attempt to acquire the lease of a cron has failed, milliseconds; `null`: the store answers. */
  readonly leasesDownMs?: number | null;
  /** Of a scheduler: its crons that stand still, at most {@link MAX_STANDSTILLS}. */
  readonly standstills?: readonly Standstill[];
  /** Of a worker: its attempts that take far longer than usual. */
  readonly longRuns?: readonly Standstill[];
}

export interface PodCard extends NewPodCard {
  /** Its last report, epoch milliseconds of the store. */
  readonly seenAt: number;
}

/** A set of definitions that a live pod has declared lately. */
export interface HeardRevision {
  readonly app: string;
  readonly revision: number;
  /** The last report of a pod that declares it, epoch milliseconds of the store. */
  readonly seenAt: number;
}

export interface ReportReply {
  /** The store's clock, epoch milliseconds with fractions: what a pod compares its own with. */
  readonly now: number;
  /** Another number than before: a pod has joined, left, expired, declares another revision, or executes other handlers. */
  readonly change: number;
}

export interface RegistryReading {
  /** The store's clock, epoch milliseconds with fractions. */
  readonly now: number;
  /**
   * When the registry began, epoch milliseconds of the store. A live pod may not have reported to a store that was wiped
   * a moment ago; before the first report it is `now`.
   */
  readonly bornAt: number;
  /** By identity. */
  readonly pods: readonly PodCard[];
  /** Those of the last {@link REVISION_KEPT_MS}, the newest report first, at most {@link MAX_REVISIONS}. */
  readonly revisions: readonly HeardRevision[];
}

/** In one report; a pod may have a hundred thousand crons. */
export const MAX_STANDSTILLS = 100;

/** Between two reports of a pod. */
export const REPORT_MS = 5_000;

/** A pod without a report for this long is no longer listed. */
export const POD_GONE_MS = 15_000;

export const REVISION_KEPT_MS = 7 * 24 * 3_600_000;

/** A program whose definitions differ at every start would fill the store. */
export const MAX_REVISIONS = 1_000;

/**
 * The pods of either role: what each is, declares, and how it is doing. Neither a lease nor a claim depends on it.
 *
 * Every implementation passes `test/contracts/pod-registry.contract.ts`.
 */
export interface PodRegistry {
  report(card: NewPodCard): Promise<ReportReply>;
  look(): Promise<RegistryReading>;
  /** The pods that have reported within {@link POD_GONE_MS}, by identity. */
  list(): Promise<readonly PodCard[]>;
  /** The number of changes, as a report has it: costs one short command. */
  change(): Promise<number>;
  /** At a graceful stop, after the last report. */
  leave(pod: string): Promise<void>;
}

export function byIdentity(a: PodCard, b: PodCard): number {
  return a.pod < b.pod ? -1 : 1;
}

/** What differs from one report of a pod to the next. */
const CHANGING = [
  'clockSkewMs',
  'rttMs',
  'lagMs',
  'leaseNodes',
  'assigned',
  'held',
  'lateMs',
  'backlog',
  'weight',
  'running',
  'leasesDownMs',
  'standstills',
  'longRuns',
] as const satisfies readonly (keyof NewPodCard)[];

export type PodState = Pick<NewPodCard, (typeof CHANGING)[number]>;

export type FixedPart = Omit<NewPodCard, keyof PodState>;

/** The handlers of a worker may be many, so what stays the same is sent once. */
export function splitCard(card: NewPodCard): { readonly fixed: FixedPart; readonly state: PodState } {
  const entries = Object.entries(card);
  return {
    fixed: Object.fromEntries(entries.filter(([name]) => !isChanging(name))) as unknown as FixedPart,
    state: Object.fromEntries(entries.filter(([name]) => isChanging(name))) as unknown as PodState,
  };
}

function isChanging(name: string): boolean {
  return (CHANGING as readonly string[]).includes(name);
}
