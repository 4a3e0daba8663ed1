import type { RedisTarget } from '@fencepost/lease/redis';
import type { Range } from './draw.js';
import type { Fault } from './fault.js';

/** Redis as the pods of an episode have it. */
export interface Topology {
  readonly name: TopologyName;
  /** For whoever looks from outside: past all that is broken between pods and server. */
  readonly target: RedisTarget;
  /** How a pod finds it. */
  env(pod: string): Readonly<Record<string, string>>;
  /** How many replicas have to have a write of the ledger before it counts, for whoever writes; 0 by default. */
  readonly waitReplicas?: number;
  /** What may happen to it, and to the network between it and the pods. */
  readonly faults: readonly Fault[];
  /** How long it is left in peace between two of them: a pod has to be able to start meanwhile. */
  readonly pauseMs: Range;
  /** How wrong its clock is made by them at the most, milliseconds; 0 by default. */
  readonly clockErrorMs?: number;
  close(): Promise<void>;
}

export type TopologyName = 'single' | 'sentinel' | 'cluster';

export interface TopologyOptions {
  /** The names of all pods. */
  readonly pods: readonly string[];
  /** Whether what Redis has acknowledged may be lost: not where the ledger is. */
  readonly mayLose: boolean;
}
