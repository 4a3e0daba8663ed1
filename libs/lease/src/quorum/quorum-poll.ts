import type { Clock, CancelTimer } from '../base/clock.js';
import { isRefusal } from './node-health.js';
import type { QuorumBackground } from './quorum-background.js';
import { QuorumCount } from './quorum-count.js';
import type { Ballot, Tally } from './quorum-count.js';
import type { Call, QuorumNode } from './quorum-node.js';
import { QuorumUnavailableError } from './quorum-unavailable-error.js';
import type { NodeFailure } from './quorum-unavailable-error.js';

export interface Poll<T, D> {
  readonly call: Call<T>;
  readonly timeoutMs: number;
  /** Called after each answer and failure; the first value that isn't `undefined` is the poll's. May throw instead. */
  readonly decide: (tally: Tally<T>) => D | undefined;
  /** Hears each answer that came after the decision, or after its node's timeout. */
  readonly onLate?: (ballot: Ballot<T>) => void;
  /** The nodes to ask; default: every configured node. */
  readonly nodes?: readonly QuorumNode[];
  /** Asks also nodes that are left out, and takes nothing they do for a sign of their health. */
  readonly always?: boolean;
}

export interface QuorumOptions {
  readonly nodes: readonly QuorumNode[];
  readonly clock: Clock;
  readonly background: QuorumBackground;
}

/** Asks the configured nodes, all at once, without waiting for the slowest. */
export class Quorum {
  readonly nodes: readonly QuorumNode[];
  readonly clock: Clock;
  readonly background: QuorumBackground;
  /**
   * Of the *configured* nodes. Two majorities of one fixed set share a node, and that node refuses the second holder. Who
   * counts the nodes it can reach has two disjoint majorities as soon as the network is cut in two.
   */
  readonly majority: number;

  constructor({ nodes, clock, background }: QuorumOptions) {
    this.nodes = nodes;
    this.clock = clock;
    this.background = background;
    this.majority = Math.floor(nodes.length / 2) + 1;
  }

  /** @throws {QuorumUnavailableError} when everybody was heard and nothing decided; and what `decide` throws */
  poll<T, D>(poll: Poll<T, D>): Promise<D> {
    const { call, timeoutMs, decide, onLate = () => {}, nodes = this.nodes, always = false } = poll;
    const { clock, background } = this;
    return new Promise((resolve, reject) => {
      const count = new QuorumCount<T, D>({
        open: nodes.length,
        decide,
        onDecided: resolve,
        onUndecided: (failures, thrown) => reject(thrown ? thrown.error : this.unavailable(failures)),
        onLate,
      });
      const asking = new QuorumAsking<T>(
        { call, timeoutMs, always, onLate: (node, answer) => onLate({ node, answer }), clock, background },
        count,
      );
      asking.ask(nodes);
    });
  }

  /** Whether so many nodes failed that the others are no majority. */
  isOutOfReach(failures: readonly NodeFailure[]): boolean {
    return failures.length > this.nodes.length - this.majority;
  }

  /** A refusal with a reason is no outage; its error is passed on. */
  unavailable(failures: readonly NodeFailure[]): unknown {
    const refusal = failures.find(({ error }) => isRefusal(error));
    return refusal?.error ?? new QuorumUnavailableError(failures, { of: this.nodes.length, majority: this.majority });
  }
}

interface AskingOptions<T> {
  readonly call: Call<T>;
  readonly timeoutMs: number;
  /** Asks also nodes that are left out, and takes nothing they do for a sign of their health. */
  readonly always: boolean;
  /** Hears an answer that came after the timeout. */
  readonly onLate: (node: QuorumNode, answer: T) => void;
  readonly clock: Clock;
  readonly background: QuorumBackground;
}

type Counting<T> = Pick<QuorumCount<T, unknown>, 'answered' | 'failed'>;

/**
 * One question to some nodes, all at once, and the one deadline they all have. Goes on when the count has decided: who then
 * doesn't answer in time has failed all the same, or a silent node would never be left out.
 */
class QuorumAsking<T> {
  readonly #options: AskingOptions<T>;
  readonly #count: Counting<T>;
  readonly #waitingFor = new Set<QuorumNode>();
  #cancel: CancelTimer = () => {};

  constructor(options: AskingOptions<T>, count: Counting<T>) {
    this.#options = options;
    this.#count = count;
  }

  ask(nodes: readonly QuorumNode[]): void {
    const { clock, timeoutMs } = this.#options;
    this.#cancel = clock.after(timeoutMs, () => this.#timeOut());
    for (const node of nodes) this.#send(node);
    if (this.#waitingFor.size === 0) this.#cancel();
  }

  #send(node: QuorumNode): void {
    const { call, always, background } = this.#options;
    const leftOut = always ? undefined : node.health.admit();
    if (leftOut) return this.#count.failed({ node: node.name, error: leftOut });
    this.#waitingFor.add(node);
    background.begin();
    node.send(call).then(
      (answer) => {
        this.#answered(node, answer);
        background.end();
      },
      (error: unknown) => {
        this.#failed(node, error);
        background.end();
      },
    );
  }

  #answered(node: QuorumNode, answer: T): void {
    const { always, onLate } = this.#options;
    if (!this.#isInTime(node)) return onLate(node, answer);
    if (!always) node.health.answered();
    this.#count.answered({ node, answer });
  }

  #failed(node: QuorumNode, error: unknown): void {
    if (!this.#isInTime(node)) return;
    if (!this.#options.always) node.health.failed(error);
    this.#count.failed({ node: node.name, error });
  }

  #isInTime(node: QuorumNode): boolean {
    const isInTime = this.#waitingFor.delete(node);
    if (isInTime && this.#waitingFor.size === 0) this.#cancel();
    return isInTime;
  }

  #timeOut(): void {
    const error = new Error(`did not answer within ${this.#options.timeoutMs} ms`);
    for (const node of this.#waitingFor) this.#failed(node, error);
  }
}
