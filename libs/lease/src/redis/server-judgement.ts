import type { Criticality, Finding, FindingCode } from '../store/finding.js';
import type { Clock } from '../base/clock.js';

export interface Demands {
  readonly criticality: Criticality;
  /** How many replicas each acquire waits for, see `waitForReplicas`; default 0. */
  readonly awaitedReplicas?: number;
}

type Rule = (facts: ServerFacts, demands: Demands) => Finding | null;

const MIN_VERSION = [6, 2] as const;
const TOO_FULL = 0.9;
const TOLERATED_SKEW_MS = 1_000;

/**
 * Judges the facts a server reported; makes no request.
 *
 * | finding | efficiency | correctness |
 * |---|---|---|
 * | `OLD_VERSION`, `EVICTION`, `REPLICA` | refuse | refuse |
 * | `NO_PERSISTENCE`, `NO_APPEND_ONLY_FILE`, `APPEND_FAILS` | warn | refuse |
 * | `APPEND_FSYNC` `no` | warn | refuse |
 * | `APPEND_FSYNC` `everysec` | – | refuse |
 * | `ASYNC_REPLICATION` without `min-replicas-to-write` | warn | refuse |
 * | `ASYNC_REPLICATION` with it | – | refuse |
 * | `KEYS_WERE_EVICTED`, `MEMORY_NEARLY_FULL`, `CLOCK_SKEW`, `UNCHECKED` | warn | warn |
 *
 * Where each write waits for a replica there is no `ASYNC_REPLICATION`, and `APPEND_FSYNC` is a warning: one server that loses
 * its power loses nothing then, both at once do.
 * A fact that a server does not report (`UNCHECKED`) is no reason to refuse it: managed servers never report some.
 */
export function judgeServer(facts: ServerFacts, demands: Demands): Finding[] {
  return RULES.map((rule) => rule(facts, demands)).filter((found) => found !== null);
}

const RULES: readonly Rule[] = [
  ({ version, address }) => {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1])) return null;
    const expected = `Expected Redis ${MIN_VERSION.join('.')} or newer at ${address}, found version ${version}.`;
    return refuse('OLD_VERSION', `${expected} Upgrade it, or use Valkey.`);
  },
  ({ evictionPolicy, address }) =>
    evictionPolicy === 'noeviction'
      ? null
      : refuse(
          'EVICTION',
          `Expected maxmemory-policy noeviction on the Redis at ${address}, found ${evictionPolicy}: a full server would ` +
            `delete leases and runs. Set it with: CONFIG SET maxmemory-policy noeviction.`,
        ),
  ({ role, address }) =>
    role === 'master'
      ? null
      : refuse(
          'REPLICA',
          `Expected a primary at ${address}, found a replica: it takes no writes, and what it shows may be old. Connect ` +
            `to the primary, or by the sentinels or the cluster that know it.`,
        ),
  persistence,
  ({ appendFails, address }, demands) =>
    appendFails
      ? stricter(
          demands,
          'APPEND_FAILS',
          `Expected the Redis at ${address} to write its append-only file, but its last write failed: a restart would ` +
            `lose leases and fences. Free space on its disk.`,
        )
      : null,
  fsync,
  replication,
  ({ evictedKeys, evictionPolicy, address }) =>
    evictedKeys === 0 || evictionPolicy !== 'noeviction'
      ? null
      : warn(
          'KEYS_WERE_EVICTED',
          `Expected the Redis at ${address} to have evicted nothing, found ${evictedKeys} evicted keys since its start: ` +
            `leases and fences may be among them. Keep maxmemory-policy at noeviction in its configuration file too.`,
        ),
  ({ usedBytes, limitBytes, address }) =>
    limitBytes === 0 || usedBytes < TOO_FULL * limitBytes
      ? null
      : warn(
          'MEMORY_NEARLY_FULL',
          `Expected free memory on the Redis at ${address}, found ${Math.round((100 * usedBytes) / limitBytes)} % of maxmemory in ` +
            `use: once it is full no lease can be acquired, while held ones go on. Raise maxmemory, or delete something.`,
        ),
  skew,
  ({ unasked, address }) =>
    unasked.length === 0
      ? null
      : warn(
          'UNCHECKED',
          `Expected answers of the Redis at ${address}, but it refused ${unasked.join(', ')}, so that is unknown. Allow it to ` +
            `this user, or check by hand: a job of criticality "correctness" needs appendonly yes and appendfsync always.`,
        ),
];

function persistence({ appendOnly, snapshots, address }: ServerFacts, demands: Demands): Finding | null {
  if (appendOnly) return null;
  const found = { '': 'neither it nor snapshots', unknown: 'it off' }[snapshots ?? 'unknown'] ?? 'snapshots only';
  return stricter(
    demands,
    snapshots === '' ? 'NO_PERSISTENCE' : 'NO_APPEND_ONLY_FILE',
    `Expected an append-only file on the Redis at ${address}, found ${found}: a restart loses leases and fences. Set it ` +
      `with: CONFIG SET appendonly yes.`,
  );
}

function fsync({ appendOnly, appendFsync, address }: ServerFacts, demands: Demands): Finding | null {
  if (!appendOnly || appendFsync === undefined || appendFsync === 'always') return null;
  const message =
    `Expected appendfsync always on the Redis at ${address}, found ${appendFsync}: a power failure loses what was ` +
    `acknowledged last. Set it with: CONFIG SET appendfsync always, and in redis.conf; or wait for a replica with each write.`;
  if (awaits(demands)) return demands.criticality === 'correctness' ? warn('APPEND_FSYNC', message) : null;
  if (appendFsync === 'no') return stricter(demands, 'APPEND_FSYNC', message);
  return demands.criticality === 'correctness' ? refuse('APPEND_FSYNC', message) : null;
}

function replication(facts: ServerFacts, demands: Demands): Finding | null {
  const { replicas, guardsReplicas, clustered, address } = facts;
  if (replicas === 0 || awaits(demands)) return null;
  const message =
    `Expected no acknowledged lease to get lost at ${address}, but its ${replicas} replica(s) ` +
    `${clustered ? 'in the cluster ' : ''}follow asynchronously, ` +
    `${guardsReplicas ? 'within min-replicas-max-lag' : 'however late, without min-replicas-to-write'}: a failover loses ` +
    `what had not reached them. Wait for a replica with each acquire, or check fences in a durable store.`;
  if (!guardsReplicas) return stricter(demands, 'ASYNC_REPLICATION', message);
  return demands.criticality === 'correctness' ? refuse('ASYNC_REPLICATION', message) : null;
}

function awaits({ awaitedReplicas = 0 }: Demands): boolean {
  return awaitedReplicas > 0;
}

function skew({ clock, address }: ServerFacts): Finding | null {
  if (clock === undefined || Math.abs(clock.aheadMs) - clock.uncertainMs <= TOLERATED_SKEW_MS) return null;
  const seconds = (Math.abs(clock.aheadMs) / 1_000).toFixed(1);
  return warn(
    'CLOCK_SKEW',
    `Expected the clock of the Redis at ${address} within 1 s of ours, found it ${seconds} s ` +
      `${clock.aheadMs > 0 ? 'ahead' : 'behind'}: its fences count by it, and a correction ends leases early or late. ` +
      `Synchronise both with NTP.`,
  );
}

/** A missing durability guarantee is an error for `correctness`, and a warning if a lost lease costs only work. */
function stricter({ criticality }: Demands, code: FindingCode, message: string): Finding {
  return criticality === 'correctness' ? refuse(code, message) : warn(code, message);
}

function refuse(code: FindingCode, message: string): Finding {
  return { code, danger: 'refuse', message };
}

function warn(code: FindingCode, message: string): Finding {
  return { code, danger: 'warn', message };
}

/** Identifies the data set of a server. */
export type History = Pick<
  ServerFacts,
  'address' | 'role' | 'runId' | 'replicationId' | 'formerReplicationId' | 'appendOnly'
>;

/**
 * Whether the server that answers now can know what the one before it acknowledged.
 *
 * A restart with an append-only file may have kept it; a restart without one, and a replica in the place of its primary,
 * may not have. `null` when it is the same process with the same history.
 */
export function judgeHistory(before: History, now: History): Finding | null {
  if (before.runId === now.runId && !tookOver(before, now)) return null;
  if (before.runId !== now.runId && now.appendOnly && !hasFormer(now)) {
    return finding(
      'RESTARTED',
      `Expected the process of before at ${now.address}, found that it was restarted: its append-only file has kept leases ` +
        `and fences but for what was not yet on disk. Nothing is to be done unless the machine had lost its power.`,
    );
  }
  const branched = now.formerReplicationId === before.replicationId;
  return finding(
    'HISTORY_LOST',
    `Expected the history of before at ${now.address}, found ${branched ? 'one that branched off it' : 'another one'}: ` +
      `leases and fences written last may be lost, and two may hold one lease until the first one renews. Fences go on ` +
      `increasing by its clock; check in the durable stores what was done meanwhile.`,
  );
}

/**
 * Whether one process has another's history now. A new replication id alone doesn't say so: a primary takes one with its
 * first replica, and when it has had none for an hour.
 */
function tookOver(before: History, now: History): boolean {
  if (before.replicationId === now.replicationId) return false;
  return now.role !== 'master' || (hasFormer(now) && now.formerReplicationId !== before.formerReplicationId);
}

/** A server has one after a promotion, and after a restart from a snapshot. */
function hasFormer({ formerReplicationId }: History): boolean {
  return /[^0]/.test(formerReplicationId);
}

function finding(code: Finding['code'], message: string): Finding {
  return { code, danger: 'warn', message };
}

/** How far a server's wall clock is ahead of ours, and how far off that may be: half of the round trip. */
interface ClockOffset {
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
