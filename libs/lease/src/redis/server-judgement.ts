import type { Criticality, Finding, FindingCode } from '../store/finding.js';
import type { ServerFacts } from './server-facts.js';

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
