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
  await inGroups(unknown, async (held) => {
    const { name } = held.entry.definition;
    // Runs that a previous holder, or a failed call of this pod, claimed and perhaps never enqueued. A cron before its first
    // occurrence has none: a new deployment may have thousands of these.
    const recover = () => deps.recovery.recoverPending(name);
    held.known = !seen.has(held) || (await guard({ operation: 'cron.recover', cron: name }, deps, recover));
  });
}

/** Crons whose cursor in the ledger went back: the ledger was replaced by a server that lost acknowledged writes. */
export async function fallenBehind(held: readonly HeldCron[], deps: LoadStateDeps): Promise<HeldCron[]> {
  const known = held.flatMap((one) => (one.known && one.cursor !== null ? [{ one, cursor: one.cursor }] : []));
  if (known.length === 0) return [];
  const behind: HeldCron[] = [];
  await guard({ operation: 'cron.read', count: known.length }, deps, async () => {
    const records = await deps.ledger.readCrons(known.map(({ one }) => one.entry.definition.name));
    known.forEach(({ one, cursor }, n) => {
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
