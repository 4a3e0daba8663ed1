import type { Cluster, Redis } from 'ioredis';
import type { Clock } from '../base/clock.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import { placeOf, primaries, readServerFacts } from './redis-probe.js';
import type { RedisClient } from './redis-script.js';
import type { ServerFacts } from './server-judgement.js';
import { judgeHistory, judgeServer, type Demands } from './server-judgement.js';
import type { Finding } from '../store/finding.js';

export interface HistoryWatchOptions {
  readonly demands: Demands;
  readonly clock: Clock;
  readonly observe: LeaseObserver;
  /** How a single server is called; the nodes of a cluster are called by host and port. */
  readonly address?: string;
}

/**
 * Remembers who answered, and compares after each reconnection and failover: a server that came back without what it had
 * acknowledged looks like any other until its history is read.
 */
export class HistoryWatch {
  readonly #options: HistoryWatchOptions;
  readonly #known = new Map<string, ServerFacts>();
  readonly #asking = new Set<Redis>();

  constructor(options: HistoryWatchOptions) {
    this.#options = options;
  }

  /** The first check of all primaries. Reports nothing: the caller decides by the findings whether to start. */
  async begin(redis: RedisClient): Promise<Finding[]> {
    const findings = await Promise.all(
      primaries(redis).map(async (node) => {
        const facts = await this.#read(node);
        this.#known.set(this.#place(node), facts);
        return judgeServer(facts, this.#options.demands);
      }),
    );
    return findings.flat();
  }

  /** From here on each reconnection is checked, and new findings are reported. */
  follow(redis: RedisClient): void {
    if (!redis.isCluster) return void redis.on('ready', () => void this.#look(redis as Redis));
    const cluster = redis as Cluster;
    for (const node of cluster.nodes()) this.#followNode(node);
    cluster.on('+node', (node: Redis) => this.#followNode(node));
    // A replica that was promoted may have been connected all the time.
    cluster.on('refresh', () => {
      for (const node of primaries(cluster)) if (!this.#known.has(this.#place(node))) void this.#look(node);
    });
  }

  #followNode(node: Redis): void {
    node.on('ready', () => {
      if (node.options.readOnly !== true) void this.#look(node);
    });
  }

  async #look(node: Redis): Promise<void> {
    if (this.#asking.has(node)) return;
    this.#asking.add(node);
    try {
      this.#compare(this.#place(node), await this.#read(node));
    } catch {
      // Gone again before it answered. The error itself is reported elsewhere, and the next reconnection is checked too.
    } finally {
      this.#asking.delete(node);
    }
  }

  #compare(place: string, now: ServerFacts): void {
    const before = this.#known.get(place) ?? this.#ancestorOf(now);
    this.#known.set(place, now);
    const { demands, observe } = this.#options;
    const old = new Set(before && judgeServer(before, demands).map(({ code }) => code));
    const history = before && judgeHistory(before, now);
    const fresh = judgeServer(now, demands).filter(({ code }) => !old.has(code));
    for (const { code, message } of [...(history ? [history] : []), ...fresh]) {
      observe({ name: 'store.warning', code, message });
    }
  }

  /** A promoted replica answers elsewhere than the primary whose history it goes on with. */
  #ancestorOf(now: ServerFacts): ServerFacts | undefined {
    return [...this.#known.values()].find(({ replicationId }) => replicationId === now.formerReplicationId);
  }

  /** With sentinels the primary moves from host to host and stays the same store. */
  #place(node: Redis): string {
    return this.#options.address ?? placeOf(node);
  }

  #read(node: Redis): Promise<ServerFacts> {
    const { clock, address } = this.#options;
    return readServerFacts(node, { clock, ...(address === undefined ? {} : { address }) });
  }
}
