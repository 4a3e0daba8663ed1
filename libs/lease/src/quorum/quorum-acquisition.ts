import type { Fence } from '../base/fence.js';
import { trustedUntil } from '../store/grant.js';
import type { AcquireReply, AcquireRequest } from '../store/lease-store.js';
import type { Floor } from './quorum-floors.js';
import type { QuorumNode } from './quorum-node.js';
import type { Ballot, Tally } from './quorum-count.js';
import type { Poll, Quorum } from './quorum-poll.js';

export interface AcquisitionOptions {
  readonly quorum: Quorum;
  readonly request: AcquireRequest;
  readonly floor: Floor;
  readonly timeoutMs: number;
  /** What the same nonce was granted before: it isn't taken away because asking again failed. */
  readonly before?: Won | undefined;
  /** Whether a majority shows the resource as free. */
  readonly isFree: () => Promise<boolean>;
}

/** A term that counts. */
export interface Won {
  readonly fence: Fence;
  /** With which fence each node that was heard has it, where that isn't the fence of the quorum. */
  readonly issued: Map<string, Fence>;
}

type Grant = Ballot<Extract<AcquireReply, { acquired: true }>>;

type Verdict =
  | { readonly won: true; readonly grants: readonly Grant[]; readonly fence: Fence; readonly written: boolean }
  | { readonly won: false; readonly remainingMs: number; readonly contested: boolean };

const LOST = { acquired: false, remainingMs: 0 } as const;

/**
 * One attempt to take a resource on a majority of nodes.
 *
 * Why any later majority issues a larger fence: the attempt counts only when a majority has written its fence `f`, either
 * because each of them issued exactly `f`, or because each confirmed `raiseFence` while the term was still theirs. Every
 * other majority shares a node with that one. A node grants the next term only after ours is over there, so after `f` was
 * written, and what it issues then is above its counter, so above `f`. That number is one of those the largest is taken of.
 */
export class QuorumAcquisition {
  readonly #options: AcquisitionOptions;
  readonly #late: Grant[] = [];
  #outcome: Won | 'given up' | undefined;

  constructor(options: AcquisitionOptions) {
    this.#options = options;
  }

  /** The result, once it has run. */
  get won(): Won | undefined {
    return this.#outcome === 'given up' ? undefined : this.#outcome;
  }

  /** @throws when a majority failed; everything that may have been granted is released then */
  async run(): Promise<AcquireReply> {
    const { quorum, request, floor, timeoutMs } = this.#options;
    const sentAt = quorum.clock.monotonic();
    const asked = { ...request, floor: floor.floor };
    try {
      const verdict = await quorum.poll({
        call: (member) => member.acquire(asked),
        timeoutMs,
        decide: (tally) => this.#verdict(tally),
        onLate: ({ node, answer }) => answer.acquired && this.#cameLate({ node, answer }),
      });
      if (!verdict.won) return await this.#lose(verdict);
      floor.learn(verdict.grants.map(({ answer }) => answer.fence));
      const written = await this.#isWritten(verdict);
      // Slow nodes, or a pause of this process: a term that is over is no lease.
      const valid = quorum.clock.monotonic() < trustedUntil(sentAt, request.ttlMs);
      return written && valid ? this.#win(verdict) : this.#giveUp();
    } catch (error) {
      this.#giveUp();
      throw error;
    }
  }

  #verdict({ answers, failures, open }: Tally<AcquireReply>): Verdict | undefined {
    const { quorum } = this.#options;
    const grants = answers.filter((ballot): ballot is Grant => ballot.answer.acquired);
    if (grants.length >= quorum.majority) return { won: true, grants, ...this.#fenceOf(grants) };
    if (quorum.isOutOfReach(failures)) throw quorum.unavailable(failures);
    if (grants.length + open >= quorum.majority) return undefined;
    const busy = answers.flatMap(({ answer }) => (answer.acquired ? [] : [answer.remainingMs]));
    // The nodes that granted are released, so a majority is free once that many fewer busy nodes become free.
    const needed = quorum.majority - grants.length;
    const remainingMs = busy.toSorted((a, b) => a - b)[Math.min(needed, busy.length) - 1] ?? 0;
    return { won: false, remainingMs, contested: grants.length > 0 };
  }

  /**
   * A repeated request for a term that a majority has kept gets the same fence: no other holder was in between, and
   * a node that issued a larger one, which then wasn't heard, may be among the first this time.
   */
  #fenceOf(grants: readonly Grant[]): { readonly fence: Fence; readonly written: boolean } {
    const { before } = this.#options;
    const isSame = ({ node, answer: { fence } }: Grant) =>
      fence === before?.fence || fence === before?.issued.get(node.name);
    if (before && grants.every(isSame)) return { fence: before.fence, written: true };
    const fence = Math.max(...grants.map(({ answer }) => answer.fence)) as Fence;
    return { fence, written: grants.every(({ answer }) => answer.fence === fence) };
  }

  /** The second round, which only differing answers need. */
  async #isWritten({ grants, fence, written }: Extract<Verdict, { won: true }>): Promise<boolean> {
    if (written) return true;
    const { quorum, request, timeoutMs } = this.#options;
    return quorum.poll({
      nodes: grants.map(({ node }) => node),
      call: (member) => member.raiseFence(request, fence),
      timeoutMs,
      decide: ({ answers, open }) => {
        const confirmed = answers.filter(({ answer }) => answer).length;
        if (confirmed >= quorum.majority) return true;
        return confirmed + open < quorum.majority ? false : undefined;
      },
    });
  }

  #win({ fence, grants }: Extract<Verdict, { won: true }>): AcquireReply {
    const { before } = this.#options;
    const won = before?.fence === fence ? before : { fence, issued: new Map<string, Fence>() };
    this.#outcome = won;
    for (const { node, answer } of grants) won.issued.set(node.name, answer.fence);
    for (const grant of this.#late) this.#settle(grant);
    return { acquired: true, fence };
  }

  /**
   * On all nodes: one whose answer got lost may have granted, and one that said no may have been asked before by a command
   * that is still under way.
   */
  #giveUp(): typeof LOST {
    this.#outcome = 'given up';
    this.#giveBack(this.#options.quorum.nodes);
    return LOST;
  }

  /** Contenders that took one node each have all lost, and no lease is held: there is nothing to wait for. */
  async #lose({ remainingMs, contested }: Extract<Verdict, { won: false }>): Promise<AcquireReply> {
    this.#giveUp();
    const split = contested && (await this.#options.isFree());
    return { acquired: false, remainingMs: split ? 0 : remainingMs };
  }

  #cameLate(grant: Grant): void {
    if (this.#outcome === undefined) this.#late.push(grant);
    else this.#settle(grant);
  }

  /** A late grant is worth having when we won, so that the term outlives another node; else it blocks another holder. */
  #settle({ node, answer }: Grant): void {
    if (this.#outcome === undefined) return;
    if (this.#outcome === 'given up') return this.#giveBack([node]);
    const { fence, issued } = this.#outcome;
    issued.set(node.name, answer.fence);
    if (answer.fence < fence) this.#raise(node, fence);
  }

  #raise(node: QuorumNode, fence: Fence): void {
    this.#send([node], { call: (member) => member.raiseFence(this.#options.request, fence) });
  }

  #giveBack(nodes: readonly QuorumNode[]): void {
    if (this.#options.before) return;
    this.#send(nodes, { call: (member) => member.release([this.#options.request]), always: true });
  }

  /** Fire-and-forget. */
  #send(nodes: readonly QuorumNode[], request: Pick<Poll<unknown, true>, 'call' | 'always'>): void {
    const { quorum, timeoutMs } = this.#options;
    void quorum.poll({ ...request, nodes, timeoutMs, decide: () => true });
  }
}
