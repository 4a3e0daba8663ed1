import { LeaseLostError, type Clock } from '@fencepost/lease';
import { trustedUntil, type CancelTimer } from '@fencepost/lease/internal';
import type { AttemptRef, AttemptLog } from '@fencepost/ledger';

export interface HeartbeatDeps {
  readonly ledger: Pick<AttemptLog, 'heartbeat'>;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** One per process; fires every quarter of `ttlMs`. */
  readonly heartbeatTimer: HeartbeatTimer;
  readonly owner: HeartbeatOwner;
}

/** The attempt, as its heartbeat knows it. */
export interface HeartbeatOwner {
  /** Called once, when the attempt must stop. */
  runLeaseLost(error: LeaseLostError): void;
  /** Called once, when an operator cancelled the run. Heartbeats go on, so that it is not redelivered while it stops. */
  runCancelled(): void;
  heartbeatFailed(error: unknown): void;
  /** Called with each heartbeat that is sent. */
  beating(): void;
}

/** The machine has slept if wall and monotonic clock drift apart by more than this between two heartbeats. */
const JUMP_MS = 2_000;

/**
 * Extends the run lease of one attempt, and reports its loss: the ledger refused the heartbeat, the lease expired, the event
 * loop was blocked for over a third of its TTL, or the machine slept.
 */
export class Heartbeat {
  #trustedUntil: number;
  #lookedAt: { readonly wall: number; readonly monotonic: number };
  #cancelTimer: CancelTimer = () => {};
  #over = false;
  #cancelled = false;

  /** @param sentAt monotonic instant at which the attempt's `begin` was sent */
  constructor(
    private readonly attempt: AttemptRef,
    private readonly deps: HeartbeatDeps,
    sentAt: number,
  ) {
    this.#trustedUntil = trustedUntil(sentAt, deps.ttlMs);
    this.#lookedAt = this.#read();
  }

  start(): void {
    this.deps.heartbeatTimer.join(this);
    this.#watchDeadline();
  }

  stop(): void {
    this.#over = true;
    this.deps.heartbeatTimer.leave(this);
    this.#cancelTimer();
  }

  /** Whether an effect may still be begun. Saves a call; the defence is the ledger's comparison of fences. */
  isTrusted(): boolean {
    this.#look();
    // A blocked event loop runs the deadline's timer after the handler that calls this.
    if (this.deps.clock.monotonic() >= this.#trustedUntil) this.#lose('expired');
    return !this.#over;
  }

  /** Called by the timer. */
  beat(): void {
    if (!this.isTrusted()) return;
    void this.#send();
    this.deps.owner.beating();
    this.#watchDeadline();
  }

  /** A deadline needs its own timer only before the next heartbeat: after a slow begin, or after failed heartbeats. */
  #watchDeadline(): void {
    const { clock, heartbeatTimer } = this.deps;
    this.#cancelTimer();
    if (this.#trustedUntil >= heartbeatTimer.nextAt) return;
    this.#cancelTimer = clock.after(this.#trustedUntil - clock.monotonic(), () => {
      // A reply may have moved the deadline meanwhile.
      if (this.isTrusted()) this.#watchDeadline();
    });
  }

  async #send(): Promise<void> {
    const sentAt = this.deps.clock.monotonic();
    try {
      const reply = await this.deps.ledger.heartbeat(this.attempt, this.deps.ttlMs);
      if (reply === 'stale') return this.#lose('refused');
      this.#trustedUntil = Math.max(this.#trustedUntil, trustedUntil(sentAt, this.deps.ttlMs));
      if (reply === 'cancelled') this.#cancel();
    } catch (error) {
      // The next heartbeat tries again; without a reply, the deadline ends the attempt.
      if (!this.#over) this.deps.owner.heartbeatFailed(error);
    }
  }

  #look(): void {
    const before = this.#lookedAt;
    const now = this.#read();
    this.#lookedAt = now;
    const passed = now.monotonic - before.monotonic;
    if (Math.abs(now.wall - before.wall - passed) > JUMP_MS) return this.#lose('clock-jump');
    // The timer fires every quarter: a third later, the event loop was blocked and no heartbeat was sent.
    if (passed > this.deps.ttlMs / 4 + this.deps.ttlMs / 3) this.#lose('expired');
  }

  #cancel(): void {
    if (this.#over || this.#cancelled) return;
    this.#cancelled = true;
    this.deps.owner.runCancelled();
  }

  #lose(reason: LeaseLostError['reason']): void {
    if (this.#over) return;
    this.stop();
    this.deps.owner.runLeaseLost(new LeaseLostError(this.attempt.runId, reason));
  }

  #read(): { wall: number; monotonic: number } {
    return { wall: this.deps.clock.now(), monotonic: this.deps.clock.monotonic() };
  }
}

/**
 * One timer for the heartbeats of all attempts of a process. They are sent in one tick of the event loop, so the ledger
 * extends all run leases with one call; and an attempt that ends before its first heartbeat costs no timer.
 */
export class HeartbeatTimer {
  readonly #joined = new Set<Pick<Heartbeat, 'beat'>>();
  #nextAt = 0;
  #cancelTimer: CancelTimer = () => {};

  constructor(
    private readonly clock: Clock,
    private readonly everyMs: number,
  ) {}

  /** The monotonic instant of the next heartbeat; valid while one has joined. */
  get nextAt(): number {
    return this.#nextAt;
  }

  /** The first heartbeat is sent within `everyMs`, together with those of the other attempts. */
  join(heartbeat: Pick<Heartbeat, 'beat'>): void {
    if (this.#joined.size === 0) this.#arm();
    this.#joined.add(heartbeat);
  }

  leave(heartbeat: Pick<Heartbeat, 'beat'>): void {
    if (this.#joined.delete(heartbeat) && this.#joined.size === 0) this.#cancelTimer();
  }

  #arm(): void {
    this.#nextAt = this.clock.monotonic() + this.everyMs;
    this.#cancelTimer = this.clock.after(this.everyMs, () => {
      // Armed before the heartbeats: the last of them to leave cancels the timer.
      this.#arm();
      for (const heartbeat of this.#joined) heartbeat.beat();
    });
  }
}
