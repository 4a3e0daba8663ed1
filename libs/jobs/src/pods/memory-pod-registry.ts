import type { Clock } from '@fencepost/lease';
import {
  byIdentity,
  MAX_REVISIONS,
  POD_GONE_MS,
  REVISION_KEPT_MS,
  type HeardRevision,
  type NewPodCard,
  type PodCard,
  type PodRegistry,
  type RegistryReading,
  type ReportReply,
} from './pod-registry.js';

/** A state of the registry. */
export interface SavedRegistry {
  readonly cards: ReadonlyMap<string, PodCard>;
  readonly revisions: ReadonlyMap<string, HeardRevision>;
  readonly bornAt: number | null;
  readonly change: number;
  readonly reportedAt: number;
}

/** The pods in memory, for tests: an adapter like `RedisPodRegistry`, on the same contract suite. */
export class MemoryPodRegistry implements PodRegistry {
  readonly #cards = new Map<string, PodCard>();
  readonly #revisions = new Map<string, HeardRevision>();
  #bornAt: number | null = null;
  #change = 0;
  #reportedAt = 0;

  /**
   * @param clock the store's
   * @param goneMs a pod without a report for this long is no longer listed
   */
  constructor(
    private readonly clock: Clock,
    private readonly goneMs = POD_GONE_MS,
  ) {}

  /** How many pods are remembered. */
  get size(): number {
    return this.#cards.size;
  }

  /** As a store that has lost all it had. */
  wipe(): void {
    this.#cards.clear();
    this.#revisions.clear();
    this.#bornAt = null;
  }

  /** What {@link restore} takes; nothing that happens later changes it. */
  save(): SavedRegistry {
    const [bornAt, change, reportedAt] = [this.#bornAt, this.#change, this.#reportedAt];
    return { cards: new Map(this.#cards), revisions: new Map(this.#revisions), bornAt, change, reportedAt };
  }

  /** As a store that fails over to a replica which lags behind: later reports are lost. */
  restore({ cards, revisions, bornAt, change, reportedAt }: SavedRegistry): void {
    this.wipe();
    for (const [pod, card] of cards) this.#cards.set(pod, card);
    for (const [key, one] of revisions) this.#revisions.set(key, one);
    [this.#bornAt, this.#change, this.#reportedAt] = [bornAt, change, reportedAt];
  }

  async report(card: NewPodCard): Promise<ReportReply> {
    const now = this.clock.now();
    this.#begin(now);
    const known = this.#cards.get(card.pod);
    const isOther = known?.revision !== card.revision || known.handlers.join('\n') !== card.handlers.join('\n');
    if (isOther) this.#change += 1;
    // As it comes back from a store.
    this.#cards.set(card.pod, { ...(JSON.parse(JSON.stringify(card)) as NewPodCard), seenAt: now });
    this.#hear(card, now);
    for (const [pod, { seenAt }] of this.#cards) {
      if (seenAt > now - this.goneMs) continue;
      this.#cards.delete(pod);
      this.#change += 1;
    }
    return { now, change: this.#change };
  }

  async look(): Promise<RegistryReading> {
    const now = this.clock.now();
    const pods = [...this.#cards.values()].filter(({ seenAt }) => seenAt > now - this.goneMs);
    const revisions = [...this.#revisions.values()].filter(({ seenAt }) => seenAt > now - REVISION_KEPT_MS);
    const isKept = this.#bornAt !== null && this.#reportedAt > now - REVISION_KEPT_MS;
    return {
      now,
      bornAt: isKept && this.#bornAt !== null ? this.#bornAt : now,
      pods: pods.toSorted(byIdentity),
      revisions: revisions.toSorted((a, b) => b.seenAt - a.seenAt),
    };
  }

  async list(): Promise<readonly PodCard[]> {
    return (await this.look()).pods;
  }

  async change(): Promise<number> {
    return this.#change;
  }

  async leave(pod: string): Promise<void> {
    const card = this.#cards.get(pod);
    if (!card) return;
    this.#cards.delete(pod);
    this.#hear(card, this.clock.now());
    this.#change += 1;
  }

  /** What a clock that went back has left in the future counts as now. */
  #begin(now: number): void {
    if (this.#bornAt === null || this.#reportedAt <= now - REVISION_KEPT_MS) {
      this.#bornAt = now;
      // A wiped registry must not count up to a number that a pod has seen before.
      this.#change = Math.max(this.#change + 1, now);
    }
    this.#bornAt = Math.min(this.#bornAt, now);
    this.#reportedAt = now;
    for (const [pod, card] of this.#cards) this.#cards.set(pod, { ...card, seenAt: Math.min(card.seenAt, now) });
    for (const [key, one] of this.#revisions) this.#revisions.set(key, { ...one, seenAt: Math.min(one.seenAt, now) });
  }

  #hear({ app, revision }: NewPodCard, now: number): void {
    const key = `${revision} ${app}`;
    this.#revisions.delete(key);
    if (revision !== null) this.#revisions.set(key, { app, revision, seenAt: now });
    const newest = [...this.#revisions].toReversed().toSorted(([, a], [, b]) => b.seenAt - a.seenAt);
    for (const [index, [kept, { seenAt }]] of newest.entries()) {
      if (index >= MAX_REVISIONS || seenAt <= now - REVISION_KEPT_MS) this.#revisions.delete(kept);
    }
  }
}
