import type { RunHistory } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';

/** The runs of the same cron beside one; `null` where none is known. Skipped instants have no page and don't count. */
export interface RunNeighbours {
  readonly previous: string | null;
  readonly next: string | null;
  /** The latest one before it that has succeeded: what a failed run is compared with. */
  readonly previousSuccess: string | null;
}

/** Of a cron's newest runs so many are looked at: an older run has no neighbours here. */
const MAX_LOOKED = 200;

export async function neighboursOf(ledger: Pick<RunHistory, 'runs'>, { id, cron }: Run): Promise<RunNeighbours> {
  const runs = (await ledger.runs(cron, MAX_LOOKED)).filter(({ state }) => state !== 'skipped');
  const at = runs.findIndex((run) => run.id === id);
  if (at < 0) return { previous: null, next: null, previousSuccess: null };
  const success = runs.slice(at + 1).find(({ state }) => state === 'succeeded');
  return { previous: runs[at + 1]?.id ?? null, next: runs[at - 1]?.id ?? null, previousSuccess: success?.id ?? null };
}
