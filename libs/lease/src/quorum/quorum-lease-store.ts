import { systemClock } from '../base/clock.js';
import type { Fence } from '../base/fence.js';
import { checkRequest, checkWhole } from '../store/lease-request.js';
import { trustedUntil } from '../store/grant.js';
import type { Term } from '../store/grant.js';
import { observers } from '../telemetry/lease-events.js';
import type { Finding } from '../store/finding.js';
import { heldOf } from '../store/holdings-page.js';
import type {
  AcquireReply,
  AcquireRequest,
  Holding,
  HoldingsPage,
  LeaseStore,
  StopWatching,
} from '../store/lease-store.js';
import { QuorumAcquisition } from './quorum-acquisition.js';
import type { Won } from './quorum-acquisition.js';
import { QuorumAnnouncements } from './quorum-announcements.js';
import { QuorumBackground } from './quorum-background.js';
import { QuorumFloors, QuorumRecent } from './quorum-floors.js';
import { quorumNames } from './quorum-names.js';
import { QuorumNode } from './quorum-node.js';
import { checkQuorumOptions, nodeTimeout } from './quorum-options.js';
import type { QuorumLeaseStoreOptions } from './quorum-options.js';
import { Quorum } from './quorum-poll.js';
import type { Tally, Ballot } from './quorum-count.js';

/** The outcome of an acquire: a nonce gets the same reply again. */
type Outcome = { readonly won: Won } | { readonly lost: () => AcquireReply };

const REMEMBERED_NONCES = 10_000;

/**
 * One lease on several independent stores, held by the owner of a majority of the *configured* ones: it survives the loss of
 * every minority of them. After the algorithm on Redis' distributed-lock page ("Redlock"), with what that lacks: a fence
 * that increases over all majorities, see `QuorumAcquisition`. No call waits for the slowest node; see {@link idle}.
 */
export class QuorumLeaseStore implements LeaseStore {
  /** None: a term counts where a majority has it, and sessions that nodes lose one by one would leave each term another one. */
  readonly sessions?: never;
  readonly #quorum: Quorum;
  readonly #floors: QuorumFloors;
  readonly #longestTtlMs: number;
  readonly #nodeTimeoutMs: number | undefined;
  readonly #outcomes = new QuorumRecent<Outcome>(REMEMBERED_NONCES);
  readonly #underWay = new Map<string, Promise<unknown>>();

  /** @throws {SetupError} for fewer than 3 nodes, for an even number, and for a node that is listed twice */
  constructor(options: QuorumLeaseStoreOptions) {
    checkQuorumOptions(options);
    const { clock = systemClock, random = Math.random, longestTtlMs } = options;
    const observe = observers(...(options.observe ? [options.observe] : []));
    const background = new QuorumBackground();
    const nodes = options.nodes.map(
      ({ name, member }) => new QuorumNode({ node: name, member, clock, random, observe }),
    );
    this.#quorum = new Quorum({ nodes, clock, background });
    this.#floors = new QuorumFloors({ clock, longestTtlMs });
    this.#longestTtlMs = longestTtlMs;
    this.#nodeTimeoutMs = options.nodeTimeoutMs;
  }

  /**
   * @throws {RangeError} for a ttl above `longestTtlMs`
   * @throws {QuorumUnavailableError} when too few nodes answered
   */
  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    this.#checkTtl(request.ttlMs);
    // One after the other for one nonce: what the first gives back must not be what the second has just got.
    const term = JSON.stringify([request.resource, request.nonce]);
    const before = this.#underWay.get(term);
    const ask = () => this.#acquire(term, request);
    const answer = before ? before.then(ask, ask) : ask();
    this.#underWay.set(term, answer);
    try {
      return await answer;
    } finally {
      if (this.#underWay.get(term) === answer) this.#underWay.delete(term);
    }
  }

  /**
   * `true` for terms that a majority has extended, `false` for terms that a majority no longer has.
   * @throws {QuorumUnavailableError} when one of the terms is neither, because nodes failed
   */
  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    this.#checkTtl(ttlMs);
    const sentAt = this.#quorum.clock.monotonic();
    if (terms.length === 0) return [];
    const renewed = await this.#quorum.poll({
      call: (member) => member.renew(terms, ttlMs),
      timeoutMs: nodeTimeout(ttlMs, this.#nodeTimeoutMs),
      decide: (tally) => decided(terms.map((_, at) => this.#agreed(tally, at))) ?? this.#refuseEarly(tally),
    });
    // The answer of a node that was slow, or came to a process that slept, is about a term that is over by now.
    const valid = this.#quorum.clock.monotonic() < trustedUntil(sentAt, ttlMs);
    return renewed.map((one) => one && valid);
  }

  /**
   * Sent to all nodes, unhealthy ones included: each may have granted. `true` for terms that a majority ended.
   * @throws {QuorumUnavailableError} when too few nodes answered
   */
  async release(terms: readonly Term[]): Promise<boolean[]> {
    if (terms.length === 0) return [];
    return this.#quorum.poll({
      call: (member) => member.release(terms),
      timeoutMs: this.#patienceMs,
      always: true,
      decide: (tally) => {
        const agreed = terms.map((_, at) => this.#agreed(tally, at));
        // All reachable nodes replied, and they are a majority: a term that they did not confirm was certainly over.
        const isLast = tally.open === 0 && !this.#quorum.isOutOfReach(tally.failures);
        return decided(agreed) ?? (isLast ? agreed.map((one) => one ?? false) : this.#refuseEarly(tally));
      },
    });
  }

  /**
   * `true` when a majority of the nodes ended it, so that no holder has it any more. Sent to all, as `release`.
   * @throws {QuorumUnavailableError} when too few nodes answered
   */
  async evict(resource: string, fence: Fence): Promise<boolean> {
    return this.#quorum.poll({
      call: async (member) => [await member.evict(resource, fence)],
      timeoutMs: this.#patienceMs,
      always: true,
      decide: (tally) => {
        const agreed = this.#agreed(tally, 0);
        const isLast = tally.open === 0 && !this.#quorum.isOutOfReach(tally.failures);
        return agreed ?? (isLast ? false : this.#refuseEarly(tally));
      },
    });
  }

  /** A node that may have lost leases does not vote until the longest of them is over, so none of its settings matters here. */
  async probe(): Promise<Finding[]> {
    return [];
  }

  /** @throws {QuorumUnavailableError} when too few nodes answered */
  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    if (resources.length === 0) return [];
    return this.#quorum.poll({
      call: (member) => member.inspect(resources),
      timeoutMs: this.#patienceMs,
      decide: (tally) => {
        if (this.#quorum.isOutOfReach(tally.failures)) throw this.#quorum.unavailable(tally.failures);
        return decided(resources.map((_, at) => majorityHolding(this.#quorum, tally, at)));
      },
    });
  }

  /**
   * By names from the nodes of a majority, in turn.
   * @throws {QuorumUnavailableError} when too few nodes answered
   */
  async list(after: string | null, limit: number): Promise<HoldingsPage> {
    const { names, next } = await quorumNames(this.#quorum, after, { limit, timeoutMs: this.#patienceMs });
    return { items: heldOf(names, await this.inspect(names)), next };
  }

  /** Resolves when a majority of the nodes is listened to; the others join when they can. */
  async watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    const { clock, majority } = this.#quorum;
    const announcements = new QuorumAnnouncements({ clock, majority, onReleased });
    const watches: Promise<StopWatching>[] = [];
    const stop = async () => {
      await Promise.all(watches.map((watch) => watch.then((end) => end()).catch(() => {})));
    };
    try {
      return await this.#quorum.poll({
        call: (member, { name }) => {
          const watch = member.watchReleases((resource) => announcements.hear(name, resource));
          watches.push(watch);
          return watch;
        },
        timeoutMs: this.#patienceMs,
        always: true,
        decide: ({ answers, failures }) => {
          if (this.#quorum.isOutOfReach(failures)) throw this.#quorum.unavailable(failures);
          return answers.length >= majority ? stop : undefined;
        },
      });
    } catch (error) {
      void stop();
      throw error;
    }
  }

  /** Resolves when nothing goes on in the background any more; every node has answered or failed by then. */
  idle(): Promise<void> {
    return this.#quorum.background.idle();
  }

  async #acquire(term: string, request: AcquireRequest): Promise<AcquireReply> {
    const known = this.#outcomes.get(term);
    // The release of an earlier try may still be in flight to slow nodes, and would end a new grant with the same nonce.
    if (known && 'lost' in known) return known.lost();
    const acquisition = new QuorumAcquisition({
      quorum: this.#quorum,
      request,
      floor: this.#floors.floorFor(request),
      timeoutMs: nodeTimeout(request.ttlMs, this.#nodeTimeoutMs),
      before: known?.won,
      isFree: () => this.#isFree(request.resource),
    });
    const lose = (lost: () => AcquireReply) => known ?? this.#outcomes.set(term, { lost });
    try {
      const reply = await acquisition.run();
      if (acquisition.won) this.#outcomes.set(term, { won: acquisition.won });
      else lose(() => ({ acquired: false, remainingMs: 0 }));
      return reply;
    } catch (error) {
      lose(() => raise(error));
      throw error;
    }
  }

  #isFree(resource: string): Promise<boolean> {
    return this.inspect([resource]).then(
      ([holding]) => holding === null,
      () => false,
    );
  }

  /** The answer of a majority about the `at`-th term. */
  #agreed({ answers }: Tally<boolean[]>, at: number): boolean | undefined {
    const { nodes, majority } = this.#quorum;
    const yes = answers.filter(({ answer }) => answer[at]).length;
    if (yes >= majority) return true;
    return answers.length - yes > nodes.length - majority ? false : undefined;
  }

  #refuseEarly({ failures }: Tally<unknown>): undefined {
    if (this.#quorum.isOutOfReach(failures)) throw this.#quorum.unavailable(failures);
  }

  #checkTtl(ttlMs: number): void {
    if (ttlMs <= this.#longestTtlMs) return;
    throw new RangeError(
      `Expected a ttl of at most longestTtlMs, ${this.#longestTtlMs} ms, got ${ttlMs} ms: a node that restarted would vote ` +
        `again while the term lasts. Raise longestTtlMs in every process, or ask for less.`,
    );
  }

  get #patienceMs(): number {
    return nodeTimeout(this.#longestTtlMs, this.#nodeTimeoutMs);
  }
}

function decided<T>(each: readonly (T | undefined)[]): T[] | undefined {
  return each.every((one) => one !== undefined) ? (each as T[]) : undefined;
}

function raise(error: unknown): never {
  throw error;
}

type Views = Tally<(Holding | null)[]>;

/**
 * What a majority of nodes shows of the `at`-th resource, or `undefined` while that is open. A term that is on fewer nodes is
 * a term about to be acquired or released; it doesn't hold the resource.
 */
export function majorityHolding(quorum: Quorum, { answers, open }: Views, at: number): Holding | null | undefined {
  const groups = byHolder(answers, at);
  const holding = groups.find((group) => group.length >= quorum.majority);
  // Where nodes show different fences, the one that counts is on a majority of all nodes and not of those that were quick.
  if (holding)
    return open > 0 && !isAgreed(holding, quorum.majority) ? undefined : agreedHolding(holding, quorum.majority);
  const closest = Math.max(0, ...groups.map((group) => group.length));
  return closest + open < quorum.majority ? null : undefined;
}

function byHolder(answers: readonly Ballot<(Holding | null)[]>[], at: number): Holding[][] {
  const groups = new Map<string, Holding[]>();
  for (const { answer } of answers) {
    const holding = answer[at];
    if (holding) groups.set(holding.holder, [...(groups.get(holding.holder) ?? []), holding]);
  }
  return [...groups.values()];
}

function isAgreed(holdings: readonly Holding[], majority: number): boolean {
  return holdings.some((one) => holdings.filter(({ fence }) => fence === one.fence).length >= majority);
}

/** Until a majority is free. With the fence in the middle: a node that issued a larger one was not heard at first. */
function agreedHolding(holdings: readonly Holding[], majority: number): Holding {
  const [first] = holdings as [Holding];
  const fences = holdings.map(({ fence }) => fence).toSorted((a, b) => a - b);
  const longest = holdings.map(({ remainingMs }) => remainingMs).toSorted((a, b) => b - a);
  const fence = fences[Math.ceil(fences.length / 2) - 1] ?? first.fence;
  // Since when is left out: each node has a clock of its own, and the quorum none.
  return { holder: first.holder, fence, remainingMs: longest[majority - 1] ?? 0 };
}
