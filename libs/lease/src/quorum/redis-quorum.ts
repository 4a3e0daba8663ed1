import { sleep, systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { SetupError } from '../base/errors.js';
import { checkWhole } from '../store/lease-request.js';
import { isRedisUrl, redactUrl } from '../redis/redis-target.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import { QuorumLeaseStore } from './quorum-lease-store.js';
import { checkNodeNames } from './quorum-options.js';
import { RedisQuorumNode } from './redis-quorum-node.js';

export interface ConnectQuorumOptions extends KeySpace {
  /** Default: the caller's own. */
  readonly kind?: LeaseKind;
  /** An odd number of addresses, 3 or more, of servers that share nothing: no replicas of each other, no failover. */
  readonly urls: readonly string[];
  /** No command waits longer, milliseconds. A node is given up sooner, see `nodeTimeoutMs`. */
  readonly commandTimeoutMs: number;
  /** The longest ttl any process will ask for; a node that lost its data votes again after so many milliseconds. */
  readonly longestTtlMs: number;
  /** See `QuorumLeaseStoreOptions`. */
  readonly nodeTimeoutMs?: number;
  /** Hears as `node.health` when a node is left out, and when it is back. */
  readonly observe?: LeaseObserver;
  readonly clock?: Clock;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

export interface RedisQuorum {
  readonly store: QuorumLeaseStore;
  /** Lets requests in flight finish, then closes all connections. */
  readonly close: () => Promise<void>;
}

/** How long the start waits for the last nodes once a majority has answered. */
const GRACE_MS = 1_000;
const STARTUP_MS = 5_000;
const ONE_VOTE = 'Give each node of a quorum a server of its own, or one failure takes two votes.';

/**
 * Connects to every node of a quorum. A minority may be down; each node comes back by itself.
 * @throws {SetupError} when the nodes can't be a quorum, or too few of them can be reached; no socket is left open then
 */
export async function connectQuorum(options: ConnectQuorumOptions): Promise<RedisQuorum> {
  const { clock = systemClock, random = Math.random, urls, longestTtlMs, ...rest } = options;
  const names = urls.map(nameOf);
  checkNodeNames(names);
  checkWhole('longestTtlMs', longestTtlMs, 1);
  const meet = acquaintance();
  const nodes = urls.map(
    (url, n) => new RedisQuorumNode({ ...rest, url, name: names[n] ?? url, longestTtlMs, clock, random, meet }),
  );
  const close = async () => void (await Promise.all(nodes.map((node) => node.close())));
  try {
    await reach(nodes, clock);
  } catch (error) {
    await close();
    throw error;
  }
  const members = nodes.map((node) => ({ name: node.name, member: node }));
  const store = new QuorumLeaseStore({ ...rest, nodes: members, longestTtlMs, clock, random });
  return {
    store,
    close: async () => {
      await store.idle();
      await close();
    },
  };
}

function nameOf(url: string): string {
  if (!isRedisUrl(url)) {
    throw new SetupError(
      `Expected a Redis address such as redis://localhost:6379, got ${JSON.stringify(redactUrl(url))}.`,
    );
  }
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || 6379}`;
}

async function reach(nodes: readonly RedisQuorumNode[], clock: Clock): Promise<void> {
  const majority = Math.floor(nodes.length / 2) + 1;
  const finished = new AbortController();
  const troubles: string[] = [];
  let reached = 0;
  const enough = new AbortController();
  const all = nodes.map(async (node) => {
    const trouble = await node.connect();
    if (trouble === undefined) reached += 1;
    else troubles.push(trouble);
    if (reached >= majority) enough.abort();
  });
  const grace = sleep(clock, STARTUP_MS, enough.signal).then(() => sleep(clock, GRACE_MS, finished.signal));
  try {
    await Promise.race([Promise.all(all), grace]);
  } finally {
    enough.abort();
    finished.abort();
  }
  if (reached >= majority) return;
  throw new SetupError(
    `Expected at least ${majority} of the ${nodes.length} nodes of the quorum, reached ${reached}. ${troubles.join(' ')}`,
  );
}

/** Two addresses of one server would be two votes of it. */
function acquaintance(): (name: string, runId: string) => void {
  const known = new Map<string, string>();
  return (name, runId) => {
    const same = [...known].find(([other, id]) => other !== name && id === runId);
    if (same && runId !== '') throw new SetupError(`${name} is the same server as ${same[0]}. ${ONE_VOTE}`);
    known.set(name, runId);
  };
}
