import type { CatalogEntry, Run, SkipRange } from '@fencepost/jobs';
import type { Schedule } from '@fencepost/schedule';
import type { TurnedDown } from '@fencepost/lease/sinks';
import type { Holding } from '@fencepost/lease/store';

/** One cron as the stores show it at one moment. */
export interface CronSight {
  readonly name: string;
  readonly entry: CatalogEntry;
  readonly schedule: Schedule;
  readonly holding: Holding | null;
  readonly cursor: number | null;
  /** Calls the ledger has refused because their fence was stale. */
  readonly refusals: number;
  /** The newest runs and skipped ranges, newest first; the archive has all. */
  readonly runs: readonly Run[];
  readonly skips: readonly SkipRange[];
}

/** What one look at the stores showed. */
export interface Sight {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly crons: readonly CronSight[];
  readonly turnedDown: TurnedDown;
}

export const NOTHING_SEEN: Sight = { at: 0, crons: [], turnedDown: { stale: 0, repeated: 0 } };

/** The label of a holder or worker `<label>/<uuid>`: the name its pod was started with. */
export function podOf(holder: string): string {
  return holder.slice(0, Math.max(0, holder.lastIndexOf('/')));
}
