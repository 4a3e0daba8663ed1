import type { LeaseEvent } from './lease-events.js';

/** An event with which a term can end for its holder. */
export type EndOfTerm = Extract<LeaseEvent, { readonly heldMs: number }>;

/** Far more than one process holds; a term that is never released after its loss would stay for ever. */
const MAX_REMEMBERED = 10_000;

/**
 * A lost lease is released later, when its work has stopped, so that one term can end with two events. Who counts terms or
 * measures how long they lasted takes the first.
 */
export class LostTerms {
  readonly #lost = new Set<string>();

  /** Whether no earlier event has ended this term. To be asked once for each event. */
  isFirstEnd({ name, resource, fence }: EndOfTerm): boolean {
    const term = `${fence} ${resource}`;
    if (name !== 'lease.lost') return !this.#lost.delete(term);
    this.#lost.add(term);
    for (const oldest of this.#lost) {
      if (this.#lost.size <= MAX_REMEMBERED) break;
      this.#lost.delete(oldest);
    }
    return true;
  }
}
