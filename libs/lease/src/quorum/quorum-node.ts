import type { QuorumMember } from '../store/lease-store.js';
import { NodeHealth } from './node-health.js';
import type { NodeHealthOptions } from './node-health.js';

export type Call<T> = (member: QuorumMember, node: QuorumNode) => Promise<T>;

export interface QuorumNodeOptions extends NodeHealthOptions {
  readonly member: QuorumMember;
}

/** One node as a quorum knows it. */
export class QuorumNode {
  readonly name: string;
  readonly health: NodeHealth;
  readonly #member: QuorumMember;

  constructor(options: QuorumNodeOptions) {
    this.name = options.node;
    this.health = new NodeHealth(options);
    this.#member = options.member;
  }

  send<T>(call: Call<T>): Promise<T> {
    try {
      return call(this.#member, this);
    } catch (error) {
      // A member that throws instead of rejecting must not keep the nodes after it from being asked.
      return Promise.reject(error);
    }
  }
}
