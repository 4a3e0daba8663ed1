import type { LeaseEvent } from '../telemetry/lease-events.js';

/** A lease that this process holds now. */
export interface HeldTerm {
  readonly resource: string;
  /** Epoch milliseconds of this process. */
  readonly since: number;
  readonly budgetMs: number;
  /** When it was acquired or renewed last. */
  heardAt: number;
}

/** Of the oldest; what is held for less than a minute has no series, or each scrape would leave new ones behind. */
const MAX_SHOWN = 20;
const MIN_SHOWN_MS = 60_000;
/** More than that are not followed: the oldest are the ones that matter. */
const MAX_FOLLOWED = 10_000;
/** Advice for a ttl aims at work that ends within one of them. Work that is meant to last says so with `maxHold`. */
const TTLS_IN_BUDGET = 10;

/** Which leases are held, and since when. An entry for each, and a scrape goes through them all. */
export class HeldTerms {
  /** In the order in which they were acquired. */
  readonly #terms = new Map<string, HeldTerm>();

  observe(event: LeaseEvent, now: number): void {
    if (!('fence' in event) || event.name === 'fence.rejected') return;
    const { resource, fence } = event;
    const key = `${fence} ${resource}`;
    if (event.name === 'lease.acquired' && this.#terms.size < MAX_FOLLOWED) {
      const { ttlMs, maxHoldMs: budgetMs = TTLS_IN_BUDGET * ttlMs } = event;
      // One that lives with a session has no renewals of its own, and always ends with an event.
      const heardAt = event.underSession ? Infinity : now;
      this.#terms.set(key, { resource, since: now - event.tookMs, budgetMs, heardAt });
    } else if (event.name === 'lease.extended') {
      const term = this.#terms.get(key);
      if (term) term.heardAt = now;
    } else if ('heldMs' in event) this.#terms.delete(key);
  }

  /** The first of those that are held for a minute or longer. */
  oldest(now: number): readonly HeldTerm[] {
    return this.#held(now)
      .filter(({ since }) => now - since >= MIN_SHOWN_MS)
      .slice(0, MAX_SHOWN);
  }

  overBudget(now: number): readonly HeldTerm[] {
    return this.#held(now).filter(({ since, budgetMs }) => now - since > budgetMs);
  }

  /** A term that came too late to be used is given back without an event: one that isn't renewed isn't held. */
  #held(now: number): readonly HeldTerm[] {
    for (const [key, { heardAt, budgetMs }] of this.#terms) if (now - heardAt >= budgetMs) this.#terms.delete(key);
    return [...this.#terms.values()];
  }
}
