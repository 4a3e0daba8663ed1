import type { Clock } from '@fencepost/lease';
import { byIdentity, POD_GONE_MS, type NewPodCard, type PodCard, type PodRegistry } from './pod-registry.js';

/** Which pods there are, in memory, for tests: an adapter like `RedisPodRegistry`, on the same contract suite. */
export class MemoryPodRegistry implements PodRegistry {
  readonly #cards = new Map<string, PodCard>();

  /** @param clock the store's */
  constructor(private readonly clock: Clock) {}

  /** How many are remembered. */
  get size(): number {
    return this.#cards.size;
  }

  async report(card: NewPodCard): Promise<number> {
    const now = this.clock.now();
    // As it comes back from a store.
    const kept = JSON.parse(JSON.stringify(card)) as NewPodCard;
    this.#cards.set(card.pod, { ...kept, seenAt: now });
    for (const [pod, known] of [...this.#cards]) {
      if (known.seenAt <= now - POD_GONE_MS) this.#cards.delete(pod);
      else if (known.seenAt > now) this.#cards.set(pod, { ...known, seenAt: now });
    }
    return now;
  }

  async list(): Promise<PodCard[]> {
    const latest = this.clock.now() - POD_GONE_MS;
    return [...this.#cards.values()].filter(({ seenAt }) => seenAt > latest).toSorted(byIdentity);
  }

  async leave(pod: string): Promise<void> {
    this.#cards.delete(pod);
  }
}
