import type { CancelTimer, Clock } from '../base/clock.js';
import type { QuorumBackground } from './quorum-background.js';
import type { QuorumCount } from './quorum-count.js';
import type { Call, QuorumNode } from './quorum-node.js';

export interface AskingOptions<T> {
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
export class QuorumAsking<T> {
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
