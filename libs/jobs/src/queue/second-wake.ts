import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { loadScripts } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { UNROUTED_QUEUE } from './routing.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['wake-queue']);

const WAKE_AFTER_MS = 1_000;

/** Each time another frozen worker may be the one that is woken. More waiting jobs than that means busy workers. */
const MAX_WAKES = 10;

export interface SecondWakeDeps {
  readonly redis: RedisClient;
  readonly clock: Clock;
  /** The key of a part of a queue. */
  readonly toKey: (queue: string, part: string) => string;
}

/**
 * Wakes another worker when jobs still wait a second after they were added. BullMQ wakes one worker for them; if that one is frozen,
 * or its connection is dead, the others would sleep on until their waits end, which are long so that an idle worker costs little.
 */
export class SecondWake {
  /** How often each may still be woken. */
  readonly #queues = new Map<string, number>();
  #cancel: CancelTimer | null = null;
  #stopped = false;

  constructor(private readonly deps: SecondWakeDeps) {}

  /** Jobs were added to these queues. No worker takes from the queue of those without one. */
  note(queues: Iterable<string>): void {
    for (const queue of queues) if (queue !== UNROUTED_QUEUE) this.#queues.set(queue, MAX_WAKES);
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  #arm(): void {
    if (this.#stopped || this.#cancel || this.#queues.size === 0) return;
    this.#cancel = this.deps.clock.after(WAKE_AFTER_MS, () => {
      this.#cancel = null;
      const noted = [...this.#queues];
      this.#queues.clear();
      void Promise.all(noted.map(([queue, left]) => this.#wake(queue, left))).then(() => this.#arm());
    });
  }

  /** Never rejects: without it, a worker looks when its wait ends. */
  async #wake(queue: string, left: number): Promise<void> {
    const { redis, toKey } = this.deps;
    const keys = ['wait', 'prioritized', 'meta', 'marker'].map((part) => toKey(queue, part));
    const doWait = await SCRIPTS['wake-queue'].run(redis, keys, []).catch(() => 0);
    // Jobs that were added meanwhile have all their wakes.
    if (doWait === 1 && left > 1 && !this.#queues.has(queue)) this.#queues.set(queue, left - 1);
  }
}
