import type { Clock } from '@fencepost/lease';
import type { RedisClient } from '@fencepost/lease/redis';
import { FIRST_FORMAT } from '@fencepost/ledger/format';
import type { HeardProcesses } from './heard-processes.js';
import { MEMBER_GONE_MS } from './membership.js';

export interface FormerProcessesDeps {
  readonly redis: RedisClient;
  readonly clock: Clock;
  readonly key: (part: string) => string;
  /** Told of them. */
  readonly heard: HeardProcesses;
}

/** While none was found: a deployment is upgraded now and then. */
const LOOK_EVERY_MS = 60_000;

/**
 * The processes of builds that keep themselves in sorted sets: pods and processes by when each was heard, and the format of
 * each. They are looked for once in a while, and at each reading while there are any.
 */
export class FormerProcesses {
  /** When each was heard, as it was last read. */
  #found = new Map<string, number>();
  #lookedAt = -Infinity;

  constructor(private readonly deps: FormerProcessesDeps) {}

  async look(now: number): Promise<void> {
    const { redis, clock, key, heard } = this.deps;
    const monotonic = clock.monotonic();
    if (this.#found.size === 0 && monotonic < this.#lookedAt + LOOK_EVERY_MS) return;
    this.#lookedAt = monotonic;
    if ((await redis.exists(key('pods'), key('writers'))) === 0) return this.#found.clear();
    const alive = ['(' + String(now - MEMBER_GONE_MS), '+inf', 'WITHSCORES'] as const;
    const [pods, processes] = await Promise.all([
      redis.zrangebyscore(key('pods'), ...alive),
      redis.zrangebyscore(key('writers'), ...alive),
    ]);
    const found = new Map([...inPairs(processes), ...inPairs(pods)]);
    const formats = found.size === 0 ? [] : await redis.zrange(key('formats'), '0', '-1', 'WITHSCORES');
    const [formatOf, arePods] = [new Map(inPairs(formats)), new Map(inPairs(pods))];
    for (const [process, at] of found) {
      // A time that is still to come is noted once, as now: the process is heard again when it changes.
      if (this.#found.get(process) === at) continue;
      const kind = arePods.has(process) ? 'pod' : 'process';
      heard.note(process, { kind, format: formatOf.get(process) ?? FIRST_FORMAT, at }, now);
    }
    this.#found = found;
  }

  async leave(process: string): Promise<void> {
    if (!this.#found.has(process)) return;
    const { redis, key } = this.deps;
    await Promise.all(['pods', 'writers', 'formats'].map((part) => redis.zrem(key(part), process)));
  }
}

function inPairs(flat: readonly string[]): [string, number][] {
  return Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] ?? '', Number(flat[2 * n + 1])]);
}
