import type { ServerFacts } from './server-facts.js';
import type { Finding } from '../store/finding.js';

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
