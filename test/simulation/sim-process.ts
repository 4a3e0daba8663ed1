import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { VirtualClock } from './virtual-clock.js';

export interface ProcessOptions {
  /** Its identity, another one after each restart. */
  readonly name: string;
  /** Seconds of its clocks for each second of the world. */
  readonly rate: number;
  /** How far its wall clock is ahead at the start, milliseconds. */
  readonly aheadMs: number;
}

/** Less than this may be no step at all for a clock that counts in fractions. */
const MIN_MS = 0.001;

interface Own {
  readonly dueAt: number;
  readonly task: () => void;
  cancel: CancelTimer;
}

/**
 * A process with clocks of its own. Nothing of a dead one happens any more, as after SIGKILL. Of a frozen one nothing happens
 * until it is thawed, and then all that is late does, as after SIGSTOP and SIGCONT. Of one whose machine sleeps neither, and
 * its monotonic clock stands still meanwhile.
 */
export class SimProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly #rate: number;
  readonly #bornAt: number;
  readonly #timers = new Set<Own>();
  readonly #late = new Set<() => void>();
  #aheadMs: number;
  #maxAheadMs: number;
  #state: 'runs' | 'frozen' | 'dead' = 'runs';
  #asleepSince: number | null = null;
  #sleptMs = 0;
  #fuse = 0;
  #onFuse: () => void = () => {};

  constructor(
    private readonly world: VirtualClock,
    { name, rate, aheadMs }: ProcessOptions,
  ) {
    this.name = name;
    this.#rate = rate;
    this.#aheadMs = this.#maxAheadMs = aheadMs;
    this.#bornAt = world.monotonic();
    this.clock = {
      now: () => Math.floor(world.startsAt + this.#aheadMs + this.#bornAt + this.#passed()),
      monotonic: () => this.#passed() - this.#sleptMs,
      after: (delayMs, task) => this.#after(delayMs, task),
    };
  }

  get runs(): boolean {
    return this.#state === 'runs';
  }

  get state(): 'runs' | 'frozen' | 'dead' {
    return this.#state;
  }

  crash(): void {
    this.#state = 'dead';
    for (const { cancel } of this.#timers) cancel();
    this.#timers.clear();
    this.#late.clear();
  }

  freeze(): void {
    if (this.#state === 'runs') this.#state = 'frozen';
  }

  /** As a laptop that is closed, or a virtual machine that is moved. */
  sleep(): void {
    if (this.#state !== 'runs') return;
    this.#state = 'frozen';
    this.#asleepSince = this.#passed();
  }

  thaw(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'runs';
    if (this.#asleepSince !== null) this.#sleptMs += this.#passed() - this.#asleepSince;
    this.#asleepSince = null;
    const late = [...this.#late];
    this.#late.clear();
    for (const goOn of late) goOn();
  }

  /** Steps the wall clock, as NTP or an operator does. */
  jumpWall(ms: number): void {
    this.#maxAheadMs = Math.max(this.#maxAheadMs, this.clock.now() - this.world.now());
    this.#aheadMs += ms;
  }

  /** How far its wall clock has been ahead of the world's at most, drift included. */
  get maxAheadMs(): number {
    return Math.max(this.#maxAheadMs, this.clock.now() - this.world.now());
  }

  /** Strikes when the process is about to make its `calls`-th call from now, or to hear its answer. */
  arm(calls: number, strike: () => void): void {
    this.#fuse = calls;
    this.#onFuse = strike;
  }

  disarm(): void {
    this.#fuse = 0;
  }

  /** Between two steps of the process, where it may come to harm. */
  boundary(): void {
    if (this.#fuse === 0 || this.#state === 'dead') return;
    this.#fuse -= 1;
    if (this.#fuse === 0) this.#onFuse();
  }

  /** Comes back when it runs: at once, when it is thawed, or never. */
  async pass(): Promise<void> {
    while (this.#state !== 'runs') await new Promise<void>((resolve) => this.whenRuns(resolve));
  }

  /** Never, for a dead one. */
  whenRuns(task: () => void): void {
    if (this.#state === 'runs') task();
    else if (this.#state === 'frozen') this.#late.add(() => this.whenRuns(task));
  }

  #passed(): number {
    return (this.world.monotonic() - this.#bornAt) * this.#rate;
  }

  #after(delayMs: number, task: () => void): CancelTimer {
    const own: Own = { dueAt: this.clock.monotonic() + Math.max(0, delayMs), task, cancel: () => {} };
    if (this.#state === 'dead') return () => {};
    this.#timers.add(own);
    this.#wait(own);
    return () => {
      own.cancel();
      this.#timers.delete(own);
    };
  }

  #wait(own: Own): void {
    const leftMs = Math.max((own.dueAt - this.clock.monotonic()) / this.#rate, MIN_MS);
    own.cancel = this.world.after(leftMs, () => this.#due(own));
  }

  #due(own: Own): void {
    if (this.#state === 'frozen') return void this.#late.add(() => this.#due(own));
    if (!this.#timers.has(own)) return;
    // Its clock stood still for a while, or the two clocks were rounded apart: no timer comes early.
    if (own.dueAt > this.clock.monotonic()) return this.#wait(own);
    this.#timers.delete(own);
    own.task();
  }
}
