import type { Clock } from '@fencepost/lease';
import { POD_TIMING, type PodTiming } from './pod-timing.js';
import { MAX_OVERDUE, type HeartbeatReply, type Membership } from './membership.js';

export interface MemoryMembershipOptions {
  /** The clock of the store. */
  readonly clock: Clock;
  /** The version of the catalog. */
  readonly version: () => number;
  /** Default {@link POD_TIMING}. */
  readonly timing?: Pick<PodTiming, 'memberGoneMs' | 'overdueMs'>;
}

/** Membership in memory, for tests: passes the same contract suite as `RedisMembership`. */
export class MemoryMembership implements Membership {
  readonly #options: MemoryMembershipOptions;
  readonly #timing: NonNullable<MemoryMembershipOptions['timing']>;
  readonly #pods = new Map<string, number>();
  readonly #due = new Map<string, number>();
  #heard: number | null = null;

  constructor(options: MemoryMembershipOptions) {
    this.#options = options;
    this.#timing = options.timing ?? POD_TIMING;
  }

  /** The number of members. */
  get size(): number {
    return this.#pods.size;
  }

  async heartbeat(pod: string): Promise<HeartbeatReply> {
    const now = this.#options.clock.now();
    this.#pods.set(pod, now);
    this.#heard = now;
    for (const [name, heard] of [...this.#pods]) {
      if (heard <= now - this.#timing.memberGoneMs) this.#pods.delete(name);
      else if (heard > now) this.#pods.set(name, now);
    }
    return {
      now,
      catalogVersion: this.#options.version(),
      members: [...this.#pods]
        .map(([name, heard]) => ({ pod: name, sinceHeardMs: now - heard }))
        .toSorted((a, b) => (a.pod < b.pod ? -1 : 1)),
      overdue: this.#overdue(now),
    };
  }

  async leave(pod: string): Promise<void> {
    this.#pods.delete(pod);
  }

  async publishDue(dues: ReadonlyMap<string, number | null>): Promise<void> {
    for (const [cron, due] of dues) {
      if (due === null) this.#due.delete(cron);
      else this.#due.set(cron, due);
    }
  }

  async lastHeard(): Promise<number | null> {
    return this.#heard;
  }

  /** Simulates a wiped store: the pods come back with their next heartbeats. */
  wipe(): void {
    this.#pods.clear();
    this.#due.clear();
    this.#heard = null;
  }

  #overdue(now: number): HeartbeatReply['overdue'] {
    const overdue = [...this.#due].filter(([, due]) => due <= now - this.#timing.overdueMs);
    return overdue
      .toSorted(([, a], [, b]) => a - b)
      .slice(0, MAX_OVERDUE)
      .map(([cron, due]) => ({ cron, overdueMs: now - due }));
  }
}
