import type { Clock } from '../base/clock.js';
import { SetupError } from '../base/errors.js';
import { checkWhole } from '../store/lease-request.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import type { QuorumMember } from '../store/lease-store.js';

export interface NamedMember {
  /** For logs and metrics; its address, as a rule. */
  readonly name: string;
  readonly member: QuorumMember;
}

export interface QuorumLeaseStoreOptions {
  /** An odd number from 3, each of them independent of the others: no replicas of each other, no common disk. */
  readonly nodes: readonly NamedMember[];
  /** No acquire or renewal with a longer ttl is accepted, milliseconds: nodes that restarted wait for so long. */
  readonly longestTtlMs: number;
  /**
   * How long one node may take, milliseconds. At most a quarter of the ttl at hand; by default a twentieth of it, from 50
   * to 500 ms.
   */
  readonly nodeTimeoutMs?: number;
  readonly clock?: Clock;
  readonly observe?: LeaseObserver;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

const MIN_NODES = 3;
const MIN_TIMEOUT_MS = 50;
const MAX_TIMEOUT_MS = 500;

/**
 * Two nodes tolerate no failure and an even number none more than the odd one below it, so either is a mistake.
 * @throws {SetupError}
 */
export function checkNodeNames(names: readonly string[]): void {
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined) {
    throw new SetupError(
      `Expected the nodes of a quorum to be different servers, got ${JSON.stringify(twice)} twice: it would vote twice.`,
    );
  }
  if (names.length >= MIN_NODES && names.length % 2 === 1) return;
  throw new SetupError(
    `Expected an odd number of at least ${MIN_NODES} nodes for a quorum, got ${names.length}. Use 3 to survive one ` +
      `failure, or 5 to survive two.`,
  );
}

/** @throws {SetupError} @throws {RangeError} for a number that isn't one */
export function checkQuorumOptions({ nodes, longestTtlMs, nodeTimeoutMs }: QuorumLeaseStoreOptions): void {
  checkNodeNames(nodes.map(({ name }) => name));
  if (new Set(nodes.map(({ member }) => member)).size < nodes.length) {
    throw new SetupError('Expected each node of a quorum to be a store of its own, got one store under two names.');
  }
  checkWhole('longestTtlMs', longestTtlMs, 1);
  if (nodeTimeoutMs !== undefined) checkWhole('nodeTimeoutMs', nodeTimeoutMs, 1);
}

/**
 * How long one node may take. Far below the ttl, whatever was configured: a node that is waited for for as long as the term
 * lasts leaves a lease that is over when it is granted.
 */
export function nodeTimeout(ttlMs: number, configuredMs: number | undefined): number {
  const byDefault = Math.min(Math.max(ttlMs / 20, MIN_TIMEOUT_MS), MAX_TIMEOUT_MS);
  return Math.min(configuredMs ?? byDefault, ttlMs / 4);
}
