import type { Clock } from '@fencepost/lease';
import type { Telemetry } from '../telemetry/telemetry.js';

/** How far a pod is behind with its crons. */
export interface Behind {
  /** How long the oldest cron has been due that is not dispatched; 0 if none is due. Milliseconds. */
  readonly lateMs: number;
  /** How many crons are due and not dispatched. */
  readonly crons: number;
}

export interface BehindWatchDeps {
  readonly engine: { behind(): Behind };
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly telemetry: Telemetry;
}

/** A pod this late is behind. */
export const BEHIND_MS = 1_000;

/** A burst drains faster than crons could be handed over. A pod that is still behind after this long halves its share. */
export const SHED_AFTER_MS = 10_000;

/** Crons that come back too soon would move to and fro. */
export const RESTORE_AFTER_MS = 300_000;

const MIN_WEIGHT = 1 / 4;

/**
 * Reports when this pod falls behind and when it has caught up, and decides the weight that it announces: half as much for every
 * {@link SHED_AFTER_MS} behind, at least a quarter, and twice as much again for every {@link RESTORE_AFTER_MS} without.
 *
 * Pods that are all behind announce the same weight in the end, and keep their crons.
 */
export class BehindWatch {
  #weight = 1;
  /** What was reported last, with the most of each since. `null`: not behind. */
  #worst: Behind | null = null;
  /** When it fell behind or caught up, or the weight changed. Monotonic. */
  #since = -Infinity;

  constructor(private readonly deps: BehindWatchDeps) {}

  /** Looks at the engine; called with each heartbeat. @returns the weight to announce */
  look(): number {
    const { engine, clock } = this.deps;
    const [behind, now] = [engine.behind(), clock.monotonic()];
    const isBehind = behind.lateMs > BEHIND_MS;
    if (isBehind !== (this.#worst !== null)) this.#since = now;
    if (isBehind) this.#lag(behind);
    else this.#catchUp();
    if (now - this.#since >= (isBehind ? SHED_AFTER_MS : RESTORE_AFTER_MS)) {
      this.#since = now;
      this.#weight = isBehind ? Math.max(this.#weight / 2, MIN_WEIGHT) : Math.min(this.#weight * 2, 1);
    }
    return this.#weight;
  }

  #lag(behind: Behind): void {
    const { lateMs, crons } = this.#worst ?? { lateMs: 0, crons: 0 };
    if (this.#worst === null) this.deps.telemetry.emit('pod.behind', behind);
    this.#worst = { lateMs: Math.max(behind.lateMs, lateMs), crons: Math.max(behind.crons, crons) };
  }

  #catchUp(): void {
    if (this.#worst !== null) this.deps.telemetry.emit('pod.caught-up', this.#worst);
    this.#worst = null;
  }
}
