import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Telemetry } from '../telemetry/telemetry.js';
import { reportProgramError, reportStoreFailure } from '../telemetry/report-failure.js';
import type { HeartbeatReply, Membership } from '../membership/membership.js';

export interface MembershipHeartbeatDeps {
  readonly pod: string;
  readonly membership: Membership;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  /** Between two heartbeats. */
  readonly heartbeatMs: number;
  readonly listener: HeartbeatListener;
  /** The weight to announce with a heartbeat, asked for before each. */
  readonly weight: () => number;
}

export interface HeartbeatListener {
  /** @param sentAt monotonic */
  heartbeatAnswered(reply: HeartbeatReply, sentAt: number): void;
}

/** A leaving pod releases its leases before it leaves; a thousand releases must cause one heartbeat. */
const EARLY_MS = 50;

/** Sends a heartbeat once a second and passes the reply on. Pods that start together are spread by jitter. */
export class MembershipHeartbeat {
  #cancel: CancelTimer = () => {};
  #nextAt = Infinity;
  /** The next heartbeat is due early: a change during the one in progress may be missing in its reply. */
  #soon = false;
  #working: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: MembershipHeartbeatDeps) {}

  /** Resolves after the first heartbeat, successful or not. */
  async start(): Promise<void> {
    this.#working = this.#heartbeat();
    await this.#working;
    this.#arm(this.deps.heartbeatMs * (0.5 + this.deps.random() / 2));
  }

  /** Sends the next heartbeat soon: a pod has joined or left. */
  early(): void {
    if (this.#nextAt === -Infinity) this.#soon = true;
    else if (this.#nextAt - this.deps.clock.monotonic() > EARLY_MS) this.#arm(EARLY_MS);
  }

  /** Resolves when the heartbeat in progress has ended: one that arrives after the leave would bring the pod back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#working;
  }

  /** Armed when the previous heartbeat has ended: a store that does not reply gets one call at a time. */
  #arm(delayMs: number): void {
    this.#cancel();
    if (this.#stopped) return;
    this.#nextAt = this.deps.clock.monotonic() + delayMs;
    this.#cancel = this.deps.clock.after(delayMs, () => {
      this.#nextAt = -Infinity;
      const sentAt = this.deps.clock.monotonic();
      this.#working = this.#heartbeat().then(() => {
        const delay = Math.max(sentAt + this.deps.heartbeatMs - this.deps.clock.monotonic(), 0);
        this.#arm(this.#soon ? Math.min(delay, EARLY_MS) : delay);
        this.#soon = false;
      });
    });
  }

  async #heartbeat(): Promise<void> {
    const { membership, pod, clock, telemetry, listener, weight } = this.deps;
    const sentAt = clock.monotonic();
    let reply: HeartbeatReply;
    try {
      reply = await membership.heartbeat(pod, weight());
    } catch (error) {
      return reportStoreFailure(telemetry, { operation: 'membership.heartbeat' }, error);
    }
    try {
      if (!this.#stopped) listener.heartbeatAnswered(reply, sentAt);
    } catch (error) {
      reportProgramError(telemetry, { operation: 'heartbeat.apply' }, error);
    }
  }
}
