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

/**
 * Looks whether another member has gone silent, at the moment when the one that was heard longest ago would become suspected.
 *
 * Only two pods do: if each did, the store would get more commands for it than for the heartbeats. The first member watches all
 * others, and the second watches the first. All others learn of it from what these two do then, or from their own heartbeats.
 */
export class MemberWatch {
  /** A member that this pod watches has been silent for so long, as of the last look; `null`: it watches none. */
  #silentMs: number | null = null;
  #cancel: CancelTimer = () => {};
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: MemberWatchDeps) {}

  /** @param members sorted by name, as of now; a suspected one watches nobody */
  apply(members: readonly Member[]): void {
    const watched = this.#watchedAmong(members);
    this.#silentMs = watched.length === 0 ? null : Math.max(...watched.map(({ sinceHeardMs }) => sinceHeardMs));
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  #watchedAmong(members: readonly Member[]): readonly Member[] {
    const { pod } = this.deps;
    const live = members.filter((member) => member.pod === pod || !this.#isSuspected(member));
    if (live[0]?.pod === pod) return members.filter((member) => member.pod !== pod);
    return live[1]?.pod === pod ? live.slice(0, 1) : [];
  }

  #arm(): void {
    this.#cancel();
    if (this.#silentMs === null || this.#stopped) return;
    const { clock, watchMs, suspectAfterMs } = this.deps;
    const leftMs = suspectAfterMs + 1 - this.#silentMs;
    this.#cancel = clock.after(Math.max(leftMs, watchMs), () => {
      // One at a time: a store that does not answer gets one call.
      this.#looking = this.#looking.then(() => this.#look());
    });
  }

  async #look(): Promise<void> {
    const { membership, telemetry, onSuspected } = this.deps;
    if (this.#stopped) return;
    try {
      const members = await membership.members();
      if (this.#stopped) return;
      if (members.some((member) => this.#isSuspected(member))) onSuspected();
      this.apply(members);
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'membership.heartbeat' }, error);
      this.#arm();
    }
  }

  #isSuspected({ pod, sinceHeardMs }: Member): boolean {
    return pod !== this.deps.pod && sinceHeardMs > this.deps.suspectAfterMs;
  }
}
