import type { Role } from '@fencepost/jobs';

/** What a pod says of itself. */
export interface NewPodCard {
  /** All of its identity, which is also the holder of its leases; who shows it shows `ownerPrefix` of it. */
  readonly pod: string;
  /** What stands in front of the random part. */
  readonly label: string;
  readonly roles: readonly Role[];
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
  /** `null` for a pod that declares nothing. */
  readonly buildSeq: number | null;
  /** Where it records runs: `redis` or `postgres`. */
  readonly ledger: string;
  /** Its clock minus the store's, as far as half a round trip is the way there; milliseconds. */
  readonly clockSkewMs: number;
  /** How long the store took to answer at its best, milliseconds. */
  readonly rttMs: number;
  /** By how much the event loop was late lately: 99 of 100 times by no more, milliseconds. */
  readonly lagMs: number;
  readonly leaseTtlMs: number;
  /** Of a scheduler: where it keeps the leases of crons, without passwords. Those that differ acquire each cron twice. */
  readonly leases?: string;
  /** The servers of that, where it is a quorum: whether this pod asks each, or leaves it out because it fails. */
  readonly leaseNodes?: readonly { readonly node: string; readonly healthy: boolean }[];
  /** How many crons should be its own; `null` for a pod that is no scheduler. */
  readonly assigned: number | null;
  /** How many it holds; `null` for a pod that is no scheduler. */
  readonly held: number | null;
  /** Of a scheduler: how late the oldest cron is that it has not dispatched, milliseconds, and how many such crons there are. */
  readonly lateMs?: number;
  readonly backlog?: number;
  /** Of a scheduler: its share relative to the others'; below 1 for one that was behind for long. */
  readonly weight?: number;
  /** How many runs it carries out at the most; `null` for a pod that is no worker. */
  readonly concurrency: number | null;
  /** How many it carries out now; `null` for a pod that is no worker. */
  readonly running: number | null;
  /** Of a worker: the crons and jobs it has a method for. */
  readonly handlers: readonly string[];
  /** Of a worker: those of them for which a duplicate is damage, `criticality: 'correctness'`. */
  readonly critical?: readonly string[];
  /** With the ledger in Redis: how many replicas have to have what it records. */
  readonly waitReplicas?: number;
  readonly runLeaseMs?: number;
  readonly sweepEveryMs?: number;
}

export interface PodCard extends NewPodCard {
  /** When it was heard last, epoch milliseconds of the store. */
  readonly seenAt: number;
}

/** Between two reports of a pod. */
export const REPORT_MS = 5_000;

/** A pod that has not reported for so long is not listed any more. */
export const POD_GONE_MS = 15_000;

/**
 * Which pods there are, of both roles, and how each is. For people: who shares the crons is decided by the membership, and who
 * may act by leases.
 *
 * Every implementation passes `test/contracts/pod-registry.contract.ts`.
 */
export interface PodRegistry {
  /** @returns the store's clock, epoch milliseconds with fractions: what a pod compares its own with */
  report(card: NewPodCard): Promise<number>;
  /** Who has reported within {@link POD_GONE_MS}, by identity. */
  list(): Promise<PodCard[]>;
  /** At a graceful stop. */
  leave(pod: string): Promise<void>;
}

export function byIdentity(a: PodCard, b: PodCard): number {
  return a.pod < b.pod ? -1 : 1;
}
