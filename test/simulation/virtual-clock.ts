import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { setImmediate } from 'node:timers';

interface Timer {
  readonly at: number;
  /** Two timers due at once run as they were started. */
  readonly order: number;
  /** `null` once it was taken back: it stays in the heap until its time, taking it out of the middle would cost a search. */
  task: (() => void) | null;
}

/** Time that goes on only when somebody takes the next step; what waits is kept in a heap, so that a step costs little. */
export class VirtualClock implements Clock {
  readonly #heap: Timer[] = [];
  #time = 0;
  #order = 0;

  /** @param startsAt wall clock, milliseconds since the Unix epoch */
  constructor(readonly startsAt: number) {}

  now(): number {
    return Math.floor(this.startsAt + this.#time);
  }

  /** Milliseconds since the start. */
  monotonic(): number {
    return this.#time;
  }

  after(delayMs: number, task: () => void): CancelTimer {
    const timer: Timer = { at: this.#time + Math.max(0, delayMs), order: (this.#order += 1), task };
    this.#push(timer);
    return () => void (timer.task = null);
  }

  /** Runs the next timer that is due by `end`; with none left it turns to `end` and says `false`. Monotonic. */
  step(end: number): boolean {
    for (let timer = this.#heap[0]; timer && timer.at <= end; timer = this.#heap[0]) {
      this.#pop();
      const { task } = timer;
      if (task === null) continue;
      timer.task = null;
      this.#time = Math.max(this.#time, timer.at);
      task();
      return true;
    }
    this.#time = Math.max(this.#time, end);
    return false;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let child = heap.push(timer) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      const above = heap[parent];
      if (!above || isBefore(above, timer)) break;
      heap[child] = above;
      child = parent;
    }
    heap[child] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let parent = 0;
    for (let child = 1; child < heap.length; child = 2 * parent + 1) {
      const [left, right] = [heap[child], heap[child + 1]];
      if (left && right && isBefore(right, left)) child += 1;
      const below = heap[child];
      if (!below || isBefore(last, below)) break;
      heap[parent] = below;
      parent = child;
    }
    heap[parent] = last;
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.at === other.at ? one.order < other.order : one.at < other.at;
}

/** So many turns are asked for at once: the event loop goes round once for all of them, and settles promises after each. */
const AT_ONCE = 256;

/**
 * Takes step after step, each in a turn of the event loop of its own: every promise that a step has moved is settled before
 * the next one, however long the chain is. Ends when a step says `false`.
 * @throws what a step throws
 */
export function runTicks(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = 0;
    let over = false;
    const end = (tell: () => void) => {
      over = true;
      tell();
    };
    const turn = () => {
      left -= 1;
      if (over) return;
      try {
        if (!step()) end(resolve);
      } catch (error) {
        end(() => reject(error));
      }
      if (left === 0 && !over) ask();
    };
    const ask = () => {
      left = AT_ONCE;
      for (let n = 0; n < AT_ONCE; n += 1) setImmediate(turn);
    };
    ask();
  });
}
