import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Member, Membership } from '../membership/membership.js';
import type { PodTiming } from '../membership/pod-timing.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';

export interface MemberWatchDeps extends Pick<PodTiming, 'watchMs' | 'suspectAfterMs'> {
  readonly pod: string;
  readonly membership: Pick<Membership, 'members'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A member is suspected: asks for a heartbeat, whose reply says what is overdue. */
  readonly onSuspected: () => void;
}

/** One watches, and another one the watcher, more seldom. */
const WATCHERS = 2;
const SELDOM = 4;

/**
 * Looks several times a second whether another member has gone silent. Only two pods do: if each did, the store would get more
 * commands for it than for the heartbeats. All others learn of it from what these two do then, or from their own heartbeats.
 */
export class MemberWatch {
  /** Among the pods that watch: 0 is the first; `null` for none of them. */
  #rank: number | null = null;
  #cancel: CancelTimer = () => {};
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: MemberWatchDeps) {}

  /** @param members sorted by name; a suspected one watches nobody */
  apply(members: readonly Member[]): void {
    const { pod } = this.deps;
    const live = members.filter((member) => member.pod === pod || !this.#isSuspected(member));
    const place = live.slice(0, WATCHERS).findIndex((member) => member.pod === pod);
    const rank = members.length > 1 && place >= 0 ? place : null;
    if (rank === this.#rank) return;
    this.#rank = rank;
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  #arm(): void {
    this.#cancel();
    if (this.#rank === null || this.#stopped) return;
    const { clock, watchMs } = this.deps;
    this.#cancel = clock.after(this.#rank === 0 ? watchMs : watchMs * SELDOM, () => {
      this.#looking = this.#look().then(() => this.#arm());
    });
  }

  async #look(): Promise<void> {
    const { membership, telemetry, onSuspected } = this.deps;
    try {
      const members = await membership.members();
      if (!this.#stopped && members.some((member) => this.#isSuspected(member))) onSuspected();
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'membership.heartbeat' }, error);
    }
  }

  #isSuspected({ pod, sinceHeardMs }: Member): boolean {
    return pod !== this.deps.pod && sinceHeardMs > this.deps.suspectAfterMs;
  }
}
