import type { Clock } from '../base/clock.js';

/** How far a server's wall clock is ahead of ours, and how far off that may be: half of the round trip. */
export interface ClockOffset {
  readonly aheadMs: number;
  readonly uncertainMs: number;
}

/** What one server said about itself, as far as a lease depends on it. `undefined` where it could not be asked. */
export interface ServerFacts {
  /** For people; without credentials. */
  readonly address: string;
  readonly version: string;
  readonly role: string;
  readonly clustered: boolean;
  /** New with each start of the process. */
  readonly runId: string;
  /** New with each start, and with each promotion of a replica. */
  readonly replicationId: string;
  /** The one it had before it was promoted, or before it was restarted from a snapshot. */
  readonly formerReplicationId: string;
  readonly evictionPolicy: string;
  readonly evictedKeys: number;
  readonly usedBytes: number;
  /** 0: no limit. */
  readonly limitBytes: number;
  readonly appendOnly: boolean;
  readonly appendFails: boolean;
  readonly appendFsync?: string;
  /** When it takes snapshots; empty for never. */
  readonly snapshots?: string;
  readonly replicas: number;
  /** Whether it refuses writes while too few replicas follow. */
  readonly guardsReplicas: boolean;
  readonly clock?: ClockOffset;
  /** Commands that were refused, by their names. */
  readonly unasked: readonly string[];
}

/** The part of {@link ServerFacts} that INFO tells: every user that may run it at all gets all of it. */
export function factsOfInfo(info: string): Omit<ServerFacts, 'address' | 'unasked'> {
  const fields = new Map([...info.matchAll(/^([a-z_\d]+):([^\r\n]*)/gm)].map(([, key, value]) => [key, value]));
  const text = (name: string, missing = '') => fields.get(name) ?? missing;
  const number = (name: string) => Number(fields.get(name) ?? 0);
  return {
    version: text('redis_version', 'unknown'),
    role: text('role', 'master'),
    clustered: text('cluster_enabled') === '1',
    runId: text('run_id'),
    replicationId: text('master_replid'),
    formerReplicationId: text('master_replid2'),
    evictionPolicy: text('maxmemory_policy', 'noeviction'),
    evictedKeys: number('evicted_keys'),
    usedBytes: number('used_memory'),
    limitBytes: number('maxmemory'),
    appendOnly: text('aof_enabled') === '1',
    appendFails: text('aof_enabled') === '1' && text('aof_last_write_status', 'ok') !== 'ok',
    replicas: number('connected_slaves'),
    // INFO has this line only while min-replicas-to-write is above 0.
    guardsReplicas: fields.has('min_slaves_good_slaves'),
  };
}

/**
 * Asks a server for its time and halves the round trip: the reply was made somewhere between sending and receiving.
 * @param askTime the reply of TIME: seconds and microseconds
 */
export async function measureClock(
  clock: Clock,
  askTime: () => Promise<readonly (string | number)[]>,
): Promise<ClockOffset> {
  const sentAt = clock.monotonic();
  const [seconds = 0, micros = 0] = (await askTime()).map(Number);
  const uncertainMs = (clock.monotonic() - sentAt) / 2;
  return { aheadMs: seconds * 1_000 + micros / 1_000 - (clock.now() - uncertainMs), uncertainMs };
}
