import type { Stage } from './stage.js';
import type { Observation } from './observations.js';
import type { TopologyName } from './topology.js';

export interface Part {
  readonly topology: TopologyName;
  /** Of the time. */
  readonly share: number;
}

/** How much of everything there is in a run. */
export interface Form {
  readonly name: 'full' | 'short';
  /** Which Redis there is, one after the other. */
  readonly parts: readonly Part[];
  /** Which kinds strike, and have to; `undefined` is all. */
  readonly kinds?: readonly string[];
  /** Which branches have to be seen; `undefined` is all that a minute provokes. */
  readonly observations?: readonly Observation[];
  /** How long a cron may begin nothing at most while a run that no worker had begun blocks it. */
  readonly maxStallMs: number;
}

export const FULL: Form = {
  name: 'full',
  parts: [
    { topology: 'single', share: 0.5 },
    { topology: 'sentinel', share: 0.25 },
    { topology: 'cluster', share: 0.25 },
  ],
  // A lost delivery may hold its cron for two seconds; a busy machine needs one more to carry out the next.
  maxStallMs: 3_000,
};

/** What any machine gets through in half a minute, whatever else it does meanwhile. */
export const SHORT: Form = {
  name: 'short',
  parts: [{ topology: 'single', share: 1 }],
  kinds: [
    ...['sigkill', 'sigstop', 'sigterm', 'sigkill-at-point', 'sigstop-at-point'],
    ...['redis-frozen', 'redis-killed', 'redis-partitioned', 'redis-replies-dropped', 'redis-wiped'],
    ...['pg-terminate-backend', 'postgres-crashed', 'postgres-replies-dropped'],
    ...['deploy', 'roll-back'],
  ],
  observations: ['takeover', 'store.failed'],
  // Machines under load have taken a little more than 3 s; a delivery that only the last resort finds is lost for longer.
  maxStallMs: 15_000,
};

export type StruckStage = Pick<
  Stage,
  'processFaults' | 'redisFaults' | 'databaseFaults' | 'wipes' | 'leaseFaults' | 'deployFaults' | 'redisPauseMs'
>;

/** What of a stage's faults belongs to a form. */
export function faultsOf(stage: StruckStage, { kinds }: Form): StruckStage {
  const { processFaults, redisFaults, databaseFaults, wipes, leaseFaults, deployFaults, redisPauseMs } = stage;
  const chosen = (faults: StruckStage['redisFaults']) => faults.filter(({ kind }) => kinds?.includes(kind) ?? true);
  return {
    processFaults: chosen(processFaults),
    redisFaults: chosen(redisFaults),
    databaseFaults: chosen(databaseFaults),
    wipes: chosen(wipes),
    deployFaults: chosen(deployFaults),
    // Who asks for such a system wants to see it hurt.
    leaseFaults,
    redisPauseMs,
  };
}
