import { expect } from 'vitest';
import type { AcquireReply, AcquireRequest, Holding, Term } from '@fencepost/lease/store';

/** The store acted when its clock stood between these two, milliseconds. */
export type During = readonly [from: number, to: number];

export interface Answer<T> {
  readonly reply: T;
  readonly during: During;
}

interface KnownTerm {
  readonly nonce: string;
  readonly holder: string;
  readonly ttlMs: number;
  readonly fence: number;
  readonly ends: During;
  /** It may have ended and been deleted before the clock went back, or the data were copied. */
  readonly mayBeGone?: boolean;
}

/** What the store has to have of a resource. */
interface Known {
  readonly term: KnownTerm | null;
  /** The last fence it can know of. */
  readonly counter: number;
}

export type Snapshot = ReadonlyMap<string, Known>;

type Life = 'runs' | 'is over' | 'is at its end';

const NOTHING: Known = { term: null, counter: 0 };
/** Servers count whole milliseconds, and round as they like. */
const SLACK_MS = 2;

export interface LeaseBookOptions {
  /** Hears what came to pass, so that a test can tell that enough did. */
  readonly seen: Set<string>;
  /** The store deletes what it has seen end; elsewhere a term runs again when the clock goes back. */
  readonly endsForGood: boolean;
}

/**
 * What is known of the leases in a store, from what it was asked, what it answered and when. Each answer that a store of
 * leases could not have given fails the test.
 */
export class LeaseBook {
  #stored = new Map<string, Known>();
  /** The largest fence ever issued, whatever the store has forgotten since. */
  readonly #last = new Map<string, number>();
  /** The latest that a clock has shown by which fences are issued, and whether it was ever another one, or stepped. */
  #newest = 0;
  #mayHaveGoneBack = false;

  constructor(private readonly options: LeaseBookOptions) {}

  acquired(asked: AcquireRequest, { reply, during }: Answer<AcquireReply>): void {
    const { term } = this.#known(asked.resource);
    const life = lifeOf(term, during);
    const ours = term?.nonce === asked.nonce;
    this.#note(`acquire: ${reply.acquired}`);
    if (!reply.acquired) {
      expect({ ours, life }, 'who is busy').not.toMatchObject({ ours: true, life: 'runs' });
      this.#busy(asked.resource, reply.remainingMs, during);
    } else if (term && ours && life !== 'is over' && reply.fence === term.fence) {
      this.#note('acquire: again');
      this.#extended(asked.resource, term, { ttlMs: asked.ttlMs, during });
    } else {
      expect(life, `the term of ${term?.nonce} when ${asked.nonce} gets a new one`).not.toBe('runs');
      this.#issued(asked, reply.fence, during);
      this.#begun(asked, reply.fence, during);
    }
  }

  renewed(asked: Term, ttlMs: number, answer: Answer<boolean>): void {
    const term = this.#current(asked, answer);
    this.#note(`renew: ${answer.reply}`);
    if (term) this.#extended(asked.resource, term, { ttlMs, during: answer.during });
  }

  released(term: Term, answer: Answer<boolean>): void {
    this.#note(`release: ${answer.reply}`);
    if (this.#current(term, answer)) this.#store(term.resource, { term: null });
  }

  raised(asked: Term, fence: number, answer: Answer<boolean>): void {
    const { resource } = asked;
    const term = this.#current(asked, answer);
    this.#note(`raise: ${answer.reply}`);
    if (!term) return;
    const { counter } = this.#known(resource);
    this.#store(resource, {
      term: { ...term, fence: Math.max(term.fence, fence) },
      counter: Math.max(counter, fence),
    });
    this.#last.set(resource, Math.max(this.last(resource), fence));
    // Another node has issued it, whose clock is ahead then.
    this.#newest = Math.max(this.#newest, fence / 1_000);
    this.#mayHaveGoneBack = true;
  }

  shown(resource: string, { reply: holding, during }: Answer<Holding | null>): void {
    this.#newest = Math.max(this.#newest, during[1]);
    const { term } = this.#known(resource);
    const life = lifeOf(term, during);
    if (holding === null) expect(life, `the term of ${term?.nonce}, which is not shown`).not.toBe('runs');
    if (holding === null && this.options.endsForGood) this.#store(resource, { term: null });
    if (!holding || !term) return expect(holding, 'what is shown of a free resource').toBeNull();
    expect(life, `the term that is shown as ${holding.holder}'s`).not.toBe('is over');
    expect({ holder: holding.holder, fence: holding.fence }).toEqual({ holder: term.holder, fence: term.fence });
    this.#expectLeft(term, holding.remainingMs, during);
    this.#store(resource, { term: { ...term, mayBeGone: false } });
  }

  /** The largest fence that was ever issued for the resource. */
  last(resource: string): number {
    return this.#last.get(resource) ?? 0;
  }

  /** Of the last term that is known of, whether it still runs or not. */
  nonce(resource: string): string | undefined {
    return this.#known(resource).term?.nonce;
  }

  /** What a copy of the store's data holds that is made now. */
  snapshot(now: number): Snapshot {
    this.beforeStep(now);
    return new Map(this.#stored);
  }

  /** What is at its end now runs again when the clock is set back, unless it was deleted in the meantime. */
  beforeStep(now: number): void {
    this.#mayHaveGoneBack = true;
    for (const [resource, { term }] of this.#stored) {
      if (term && lifeOf(term, [now, now]) !== 'runs') this.#store(resource, { term: { ...term, mayBeGone: true } });
    }
  }

  /** The store has these data now, and has forgotten all that is newer. */
  restore(snapshot: Snapshot): void {
    this.#stored = new Map(snapshot);
  }

  forget(): void {
    this.#stored.clear();
  }

  /** Renewing, releasing and raising say yes to the current term and to nobody else. */
  #current({ resource, nonce }: Term, { reply, during }: Answer<boolean>): KnownTerm | null {
    const { term } = this.#known(resource);
    const life = term?.nonce === nonce ? lifeOf(term, during) : 'is over';
    if (life !== 'is at its end') expect(reply, `whether ${nonce} has ${resource}`).toBe(life === 'runs');
    return reply ? term : null;
  }

  #busy(resource: string, remainingMs: number, during: During): void {
    const { term } = this.#known(resource);
    expect(lifeOf(term, during), `the term of ${term?.nonce}, which is in the way`).not.toBe('is over');
    if (!term) return;
    expect(remainingMs, 'what is left once a contender has looked').toBeLessThanOrEqual(2 * term.ttlMs);
    // Only by a clock that went back, or more is left than was ever asked for.
    const isCut = term.ends[1] - during[0] > 2 * term.ttlMs - SLACK_MS && remainingMs <= term.ttlMs;
    if (isCut) this.#note('acquire: cuts');
    const seen = isCut ? { ...term, ends: plus(during, term.ttlMs) } : term;
    this.#expectLeft(seen, remainingMs, during);
    this.#store(resource, { term: seen });
  }

  #expectLeft({ ends: [from, to] }: KnownTerm, remainingMs: number, during: During): void {
    expect(remainingMs).toBeGreaterThanOrEqual(Math.max(0, from - during[1] - SLACK_MS));
    expect(remainingMs).toBeLessThanOrEqual(Math.max(0, to - during[0]) + SLACK_MS);
  }

  /**
   * A fence is larger than every one before, unless the data were lost and the clock went back and no floor was given that
   * makes up for it. It is what the README says it is, so that a contender that fails can't have used one up.
   */
  #issued({ resource, floor }: AcquireRequest, fence: number, during: During): void {
    const [last, { counter }] = [this.last(resource), this.#known(resource)];
    // Within one millisecond nobody could tell.
    const wentBack = this.#mayHaveGoneBack && during[0] < this.#newest + 1;
    const excused = counter < last && wentBack && floor < last;
    if (!excused) expect(fence, `the fence after ${last}`).toBeGreaterThan(last);
    if (fence <= last) this.#note('fence: goes back');
    if (counter < last && fence > last) this.#note('fence: increases over lost data');
    const next = Math.max(counter, floor) + 1;
    expect(fence).toBeGreaterThanOrEqual(Math.max(next, (during[0] - SLACK_MS) * 1_000));
    expect(fence).toBeLessThanOrEqual(Math.max(next, (during[1] + SLACK_MS) * 1_000));
    this.#last.set(resource, Math.max(last, fence));
  }

  #begun({ resource, nonce, holder, ttlMs }: AcquireRequest, fence: number, during: During): void {
    const { counter } = this.#known(resource);
    const begun = { nonce, holder, ttlMs, fence, ends: plus(during, ttlMs) };
    this.#store(resource, { term: begun, counter: Math.max(counter, fence) });
  }

  /** Ends as it would have ended, or `ttlMs` from now: whichever is later. */
  #extended(resource: string, term: KnownTerm, { ttlMs, during }: { ttlMs: number; during: During }): void {
    const [asked, atMost] = [plus(during, ttlMs), plus(during, term.ttlMs)];
    // More than its ttl is left by a clock that went back.
    const before: During = [Math.min(term.ends[0], atMost[0]), Math.min(term.ends[1], atMost[1])];
    const ends: During = [Math.max(before[0], asked[0]), Math.max(before[1], asked[1])];
    const stays = before[1] > asked[0];
    if (stays && ttlMs < term.ttlMs) this.#note('renew: shortens nothing');
    const longer = stays ? Math.max(term.ttlMs, ttlMs) : ttlMs;
    this.#store(resource, { term: { ...term, ttlMs: longer, ends, mayBeGone: false } });
  }

  #known(resource: string): Known {
    return this.#stored.get(resource) ?? NOTHING;
  }

  #store(resource: string, over: Partial<Known>): void {
    this.#stored.set(resource, { ...this.#known(resource), ...over });
  }

  #note(event: string): void {
    this.options.seen.add(event);
  }
}

function lifeOf(term: KnownTerm | null, [from, to]: During): Life {
  if (!term || from - SLACK_MS > term.ends[1]) return 'is over';
  return to + SLACK_MS < term.ends[0] && !term.mayBeGone ? 'runs' : 'is at its end';
}

function plus([from, to]: During, ms: number): During {
  return [from + ms, to + ms];
}
