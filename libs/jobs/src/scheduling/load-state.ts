import type { OccurrenceLog } from '@fencepost/ledger';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { HeldCron } from './held-cron.js';
import { inGroups } from './in-groups.js';
import type { Recovery } from './recovery.js';
import { reportStoreFailure, type FailedOperation } from '../telemetry/report-failure.js';

export interface LoadStateDeps {
  readonly ledger: OccurrenceLog;
  readonly recovery: Recovery;
  readonly telemetry: Telemetry;
}

/** Loads cursor and pending runs of crons that were taken over or whose last call failed; sets `known` on success. */
export async function loadState(unknown: readonly HeldCron[], deps: LoadStateDeps): Promise<void> {
  const names = unknown.map(({ entry }) => entry.definition.name);
  const seen = new Set<HeldCron>();
  const read = await guard({ operation: 'cron.read', count: names.length }, deps, async () => {
    const records = await deps.ledger.readCrons(names);
    unknown.forEach((held, index) => {
      const { cursor = null, fence = 0, generation = 0 } = records[index] ?? {};
      held.cursor = cursor;
      if (cursor !== null || fence > 0 || generation > 0) seen.add(held);
    });
  });
  if (!read) return;
  const { pending, rest } = await splitByPending(unknown, seen, deps);
  for (const held of rest) held.known = true;
  await inGroups(pending, async (held) => {
    const { name } = held.entry.definition;
    const recover = () => deps.recovery.recoverPending(name);
    held.known = await guard({ operation: 'cron.recover', cron: name }, deps, recover);
  });
}

/**
 * The crons with runs that a previous holder, or a failed call of this pod, claimed and perhaps never enqueued. A cron before
 * its first occurrence has none: a new deployment may have thousands of these.
 * @returns neither where the store could not be asked
 */
async function splitByPending(unknown: readonly HeldCron[], seen: ReadonlySet<HeldCron>, deps: LoadStateDeps) {
  const named = new Set<string>();
  const names = [...seen].map(({ entry }) => entry.definition.name);
  const asked = await guard({ operation: 'cron.recover', count: names.length }, deps, async () => {
    for (const name of names.length === 0 ? [] : await deps.ledger.withPending(names)) named.add(name);
  });
  const isPending = (held: HeldCron) => named.has(held.entry.definition.name);
  return {
    pending: unknown.filter(isPending),
    rest: unknown.filter((held) => !seen.has(held) || (asked && !isPending(held))),
  };
}

/** So many crons are compared although nothing was claimed for them since the last comparison. */
const WITNESSES = 16;

/** Claims are this much older than their instants at most, or are catching up, which ends with newer ones. */
const SLACK_MS = 60_000;

/**
 * Crons whose cursor in the ledger went back: the ledger was replaced by a server that lost acknowledged writes.
 *
 * Such a server lacks the last writes and has all before them. So it is enough to compare the crons that were claimed for since
 * the last comparison, and of the others the last ones, which a longer loss would have taken first; what this costs doesn't grow
 * with the number of idle crons. Where one of them is behind, all are compared. On a cluster each node loses its own last
 * writes: a cron on a node without any of these is put right by its next claim, whose cursor the ledger refuses.
 * @param since of this pod's clock: when the last comparison began
 */
export async function fallenBehind(held: readonly HeldCron[], since: number, deps: LoadStateDeps): Promise<HeldCron[]> {
  const known = held.flatMap((one) => (one.known && one.cursor !== null ? [{ one, cursor: one.cursor }] : []));
  const isRecent = ({ cursor }: Compared) => cursor >= since - SLACK_MS;
  const others = newest(known.filter((one) => !isRecent(one)));
  const behind = await behindOf([...known.filter(isRecent), ...others], deps);
  return behind.length === 0 ? [] : behindOf(known, deps);
}

interface Compared {
  readonly one: HeldCron;
  readonly cursor: number;
}

function newest(known: readonly Compared[]): readonly Compared[] {
  return known.toSorted((a, b) => b.cursor - a.cursor).slice(0, WITNESSES);
}

async function behindOf(compared: readonly Compared[], deps: LoadStateDeps): Promise<HeldCron[]> {
  const behind: HeldCron[] = [];
  if (compared.length === 0) return behind;
  await guard({ operation: 'cron.read', count: compared.length }, deps, async () => {
    const records = await deps.ledger.readCrons(compared.map(({ one }) => one.entry.definition.name));
    compared.forEach(({ one, cursor }, n) => {
      const recorded = records[n]?.cursor ?? -Infinity;
      if (recorded < cursor) behind.push(one);
    });
  });
  return behind;
}

async function guard(
  failed: FailedOperation,
  { telemetry }: LoadStateDeps,
  work: () => Promise<void>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    reportStoreFailure(telemetry, failed, error);
    return false;
  }
}
