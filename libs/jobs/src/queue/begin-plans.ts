import { createHash } from 'node:crypto';
import type { RedisClient } from '@fencepost/lease/redis';
import type { AttemptLog } from '@fencepost/ledger';

/** What a ledger on the server of the queue offers. */
export type AttemptSteps = NonNullable<AttemptLog['steps']>;

export interface BeginPlansOptions {
  readonly redis: RedisClient;
  readonly steps: Pick<AttemptSteps, 'plansKey'>;
  readonly onTrouble: (error: unknown) => void;
}

/** Noted again when it is missed: workers come and go, and nobody knows which one is the last. */
const KEPT_MS = 24 * 3_600_000;

/** A note that failed is not tried again sooner. */
const AGAIN_MS = 1_000;

/** Fields of one command. */
const MAX_NOTED = 1_000;

/**
 * What a worker asks of the begin of each cron's runs, noted on the server: a script that takes a job learns only then which run it
 * is, and begins it as the worker would. Equal workers share a note. Without one, workers begin their runs by themselves.
 */
export class BeginPlans {
  readonly #options: BeginPlansOptions;
  #plans: ReadonlyMap<string, string> = new Map();
  #digest = '';
  #noted: string | null = null;
  #isNoting = false;
  #failedAt = -Infinity;

  constructor(options: BeginPlansOptions) {
    this.#options = options;
  }

  /** Where the plans are; `null` while they are not there. */
  get key(): string | null {
    return this.#noted;
  }

  has(cron: string): boolean {
    return this.#plans.has(cron);
  }

  /** @param plans by cron: how many attempts, a space, and which ends are notified. Until they are noted, no script begins a run */
  set(plans: ReadonlyMap<string, string>): void {
    const text = Array.from(plans, ([cron, plan]) => `${cron} ${plan}`).toSorted();
    const next = createHash('sha1').update(text.join('\n')).digest('hex').slice(0, 20);
    if (next === this.#digest) return;
    this.#plans = plans;
    this.#digest = next;
    this.miss();
  }

  /** The server has no such note: it has expired, was evicted or was lost by a failover. Never rejects. */
  miss(): void {
    this.#noted = null;
    if (this.#isNoting || this.#plans.size === 0 || performance.now() - this.#failedAt < AGAIN_MS) return;
    this.#isNoting = true;
    void this.#note().finally(() => (this.#isNoting = false));
  }

  async #note(): Promise<void> {
    const { redis, steps, onTrouble } = this.#options;
    let key: string;
    try {
      do {
        key = steps.plansKey(this.#digest);
        const [noting, fields] = [redis.multi(), [...this.#plans].flat()];
        for (let n = 0; n < fields.length; n += 2 * MAX_NOTED) noting.hset(key, ...fields.slice(n, n + 2 * MAX_NOTED));
        await noting.pexpire(key, KEPT_MS).exec();
      } while (key !== steps.plansKey(this.#digest));
      this.#noted = key;
    } catch (error) {
      this.#failedAt = performance.now();
      onTrouble(error);
    }
  }
}
