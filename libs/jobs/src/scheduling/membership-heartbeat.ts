import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Telemetry } from '../telemetry/telemetry.js';
import { reportProgramError, reportStoreFailure } from '../telemetry/report-failure.js';
import type { HeartbeatReply, Membership } from '../membership/membership.js';
import type { PodTiming } from '../membership/pod-timing.js';
import { MemberWatch } from './member-watch.js';

export interface MembershipHeartbeatDeps extends Pick<
  PodTiming,
  'heartbeatMs' | 'replyMs' | 'watchMs' | 'suspectAfterMs'
> {
  readonly pod: string;
  readonly membership: Membership;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  readonly listener: HeartbeatListener;
  /** The weight to announce with a heartbeat, asked for before each. */
  readonly weight: () => number;
}

export interface HeartbeatListener {
  /** @param sentAt monotonic */
  heartbeatAnswered(reply: HeartbeatReply, sentAt: number): void;
  /** Whether the pod has nothing due soon: then it needs no reply to each heartbeat. */
  isQuiet(): boolean;
}

/** A leaving pod releases its leases before it leaves; a thousand releases must cause one heartbeat. */
const EARLY_MS = 50;

/** Says once a second that this pod is alive, less often while it is alone, and passes the replies on. Pods that start together are spread by jitter. */
export class MembershipHeartbeat {
  readonly #watch: MemberWatch;
  #cancel: CancelTimer = () => {};
  #nextAt = Infinity;
  /** The next heartbeat is due early: a change during the one in progress may be missing in its reply. */
  #soon = false;
  /** When this pod last said that it lives; `null` before it has begun to. Monotonic. */
  #saidAt: number | null = null;
  #saying: Promise<void> | null = null;
  /** When the last reply was asked for. Monotonic. */
  #askedAt = -Infinity;
  /** As of the last reply. */
  #isAlone = false;
  #working: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: MembershipHeartbeatDeps) {
    this.#watch = new MemberWatch({ ...deps, onSuspected: () => this.early(0) });
  }

  /** Resolves after the first heartbeat, successful or not. */
  async start(): Promise<void> {
    this.#working = this.#heartbeat();
    await this.#working;
    this.#arm(this.deps.heartbeatMs * (0.5 + this.deps.random() / 2));
  }

  /** Sends the next heartbeat soon: a pod has joined or left, or is suspected. */
  early(delayMs = EARLY_MS): void {
    this.#askedAt = -Infinity;
    if (this.#nextAt === -Infinity) this.#soon = true;
    else if (this.#nextAt - this.deps.clock.monotonic() > delayMs) this.#arm(delayMs);
  }

  /**
   * Says that this pod lives if it has not for half the time between two heartbeats. Called while it works through what is due: its
   * timers are late then, and a pod that is taken for dead loses its crons in the middle of a burst. One at a time, as heartbeats.
   */
  alive(): void {
    const { clock, heartbeatMs } = this.deps;
    const isDue = this.#saidAt !== null && clock.monotonic() - this.#saidAt >= heartbeatMs / 2;
    if (!isDue || this.#stopped || this.#saying !== null) return;
    this.#saying = this.#beat().finally(() => (this.#saying = null));
  }

  /** Resolves when the heartbeat in progress has ended: one that arrives after the leave would bring the pod back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await Promise.all([this.#working, this.#saying, this.#watch.stop()]);
  }

  /** Armed when the previous heartbeat has ended: a store that does not reply gets one call at a time. */
  #arm(delayMs: number): void {
    this.#cancel();
    if (this.#stopped) return;
    this.#nextAt = this.deps.clock.monotonic() + delayMs;
    this.#cancel = this.deps.clock.after(delayMs, () => {
      this.#nextAt = -Infinity;
      const sentAt = this.deps.clock.monotonic();
      this.#working = this.#speak(sentAt).then(() => {
        const delay = Math.max(sentAt + this.deps.heartbeatMs - this.deps.clock.monotonic(), 0);
        // The reply that has just come is older than the change, however new it is.
        if (this.#soon) this.#askedAt = -Infinity;
        this.#arm(this.#soon ? Math.min(delay, EARLY_MS) : delay);
        this.#soon = false;
      });
    });
  }

  /** Its heartbeats alone keep a pod a member of a deployment in which nobody waits for signs of life. */
  async #speak(now: number): Promise<void> {
    if (this.#needsReply(now)) await this.#heartbeat();
    else if (!this.#isAlone) await this.#beat();
  }

  #needsReply(now: number): boolean {
    const { replyMs, heartbeatMs, listener } = this.deps;
    return now - this.#askedAt >= replyMs - heartbeatMs / 2 || !listener.isQuiet();
  }

  async #beat(): Promise<void> {
    const { membership, pod, clock, telemetry, weight } = this.deps;
    this.#saidAt = clock.monotonic();
    try {
      await membership.beat(pod, 'pod', weight());
    } catch (error) {
      // Asked again by the next one: a reply is late already.
      this.#askedAt = -Infinity;
      reportStoreFailure(telemetry, { operation: 'membership.heartbeat' }, error);
    }
  }

  async #heartbeat(): Promise<void> {
    const { membership, pod, clock, telemetry, listener, weight } = this.deps;
    const sentAt = clock.monotonic();
    this.#saidAt = sentAt;
    let reply: HeartbeatReply;
    try {
      reply = await membership.heartbeat(pod, weight());
    } catch (error) {
      return reportStoreFailure(telemetry, { operation: 'membership.heartbeat' }, error);
    }
    this.#askedAt = sentAt;
    this.#isAlone = reply.isAlone;
    try {
      if (this.#stopped) return;
      this.#watch.apply(reply.members);
      listener.heartbeatAnswered(reply, sentAt);
    } catch (error) {
      reportProgramError(telemetry, { operation: 'heartbeat.apply' }, error);
    }
  }
}
