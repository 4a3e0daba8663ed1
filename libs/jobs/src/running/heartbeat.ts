import { LeaseLostError, type Clock } from '@fencepost/lease';
import { trustedUntil, type CancelTimer } from '@fencepost/lease/internal';
import type { AttemptRef, AttemptLog } from '@fencepost/ledger';

export interface HeartbeatDeps {
  readonly ledger: Pick<AttemptLog, 'heartbeat'>;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Of the process; comes every quarter of `ttlMs`. */
  readonly heartbeatTimer: HeartbeatTimer;
  /** Called once, when the attempt may not go on. */
  readonly onLost: (error: LeaseLostError) => void;
  /** Called once, when somebody wants the run to stop. Heartbeats go on, so that it isn't taken for dead while it does. */
  readonly onCancelled: () => void;
  readonly onTrouble: (error: unknown) => void;
}

/** Wall and monotonic clock may drift apart by this much between two heartbeats before the machine counts as having slept. */
const JUMP_MS = 2_000;

/**
 * Keeps one attempt's run lease alive, and notices when it can't be trusted any more: the ledger refuses it, it could not
 * be extended in time, the event loop was blocked for over a third of it, or the machine slept.
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
    this.deps.heartbeatTimer.join(this.#onTimer);
    this.#watchDeadline();
  }

  stop(): void {
    this.#over = true;
    this.deps.heartbeatTimer.leave(this.#onTimer);
    this.#cancelTimer();
  }

  /** Whether an effect may still be begun; a filter that saves a call, the ledger's comparison is the defence. */
  isTrusted(): boolean {
    this.#look();
    // The deadline's own timer may be late: a blocked event loop runs it after the handler that asks here.
    if (this.deps.clock.monotonic() >= this.#trustedUntil) this.#lose('expired');
    return !this.#over;
  }

  readonly #onTimer = (): void => {
    if (!this.isTrusted()) return;
    void this.#beat();
    this.#watchDeadline();
  };

  /** A timer of its own only for a deadline that comes before the next heartbeat: after a late begin, or heartbeats in vain. */
  #watchDeadline(): void {
    const { clock, heartbeatTimer } = this.deps;
    this.#cancelTimer();
    if (this.#trustedUntil >= heartbeatTimer.nextAt) return;
    this.#cancelTimer = clock.after(this.#trustedUntil - clock.monotonic(), () => {
      // An answer may have come meanwhile, and moved it.
      if (this.isTrusted()) this.#watchDeadline();
    });
  }

  async #beat(): Promise<void> {
    const sentAt = this.deps.clock.monotonic();
    try {
      const reply = await this.deps.ledger.heartbeat(this.attempt, this.deps.ttlMs);
      if (reply === 'stale') return this.#lose('refused');
      this.#trustedUntil = Math.max(this.#trustedUntil, trustedUntil(sentAt, this.deps.ttlMs));
      if (reply === 'cancelled') this.#tellOnce();
    } catch (error) {
      // Nothing is known, so nothing is done: the next heartbeat asks again, and the deadline comes by itself.
      if (!this.#over) this.deps.onTrouble(error);
    }
  }

  #look(): void {
    const before = this.#lookedAt;
    const now = this.#read();
    this.#lookedAt = now;
    const passed = now.monotonic - before.monotonic;
    if (Math.abs(now.wall - before.wall - passed) > JUMP_MS) return this.#lose('clock-jump');
    // A beat comes every quarter; one that comes a third late found the event loop blocked, and others saw no heartbeat.
    if (passed > this.deps.ttlMs / 4 + this.deps.ttlMs / 3) this.#lose('expired');
  }

  #tellOnce(): void {
    if (this.#over || this.#cancelled) return;
    this.#cancelled = true;
    this.deps.onCancelled();
  }

  #lose(reason: LeaseLostError['reason']): void {
    if (this.#over) return;
    this.stop();
    this.deps.onLost(new LeaseLostError(this.attempt.runId, reason));
  }

  #read(): { wall: number; monotonic: number } {
    return { wall: this.deps.clock.now(), monotonic: this.deps.clock.monotonic() };
  }
}

/**
 * One timer for the heartbeats of all attempts of a process. They beat in the same turn of the event loop, so the ledger
 * extends all their run leases with one call; and a run that is over before the next heartbeat has cost no timer of its own.
 */
export class HeartbeatTimer {
  readonly #beats = new Set<() => void>();
  #nextAt = 0;
  #cancelTimer: CancelTimer = () => {};

  constructor(
    private readonly clock: Clock,
    private readonly everyMs: number,
  ) {}

  /** The monotonic instant of the next heartbeat, for who has joined. */
  get nextAt(): number {
    return this.#nextAt;
  }

  /** The first heartbeat comes within `everyMs`: with that of the others. */
  join(beat: () => void): void {
    if (this.#beats.size === 0) this.#arm();
    this.#beats.add(beat);
  }

  leave(beat: () => void): void {
    if (this.#beats.delete(beat) && this.#beats.size === 0) this.#cancelTimer();
  }

  #arm(): void {
    this.#nextAt = this.clock.monotonic() + this.everyMs;
    this.#cancelTimer = this.clock.after(this.everyMs, () => {
      // Before the heartbeats: the last of them to leave ends the timer.
      this.#arm();
      for (const beat of this.#beats) beat();
    });
  }
}
