import type { Lease, Pod } from '../../data/types.js';

/** So many crons are drawn in a row, and in all rows: nobody looks through more of them, and each is a link. */
export const MAX_IN_A_ROW = 40;
const MAX_OVERALL = 600;
const MIN_IN_A_ROW = 5;

/** A cron in its row. */
export interface Held {
  readonly cron: string;
  /** Without one nobody holds it. */
  readonly lease: Lease | null;
}

export interface Row {
  /** `null`: nobody. */
  readonly pod: string | null;
  readonly shown: readonly Held[];
  /** How many there are with those that are not shown. */
  readonly total: number;
}

/** Crons that are due and that nobody holds. */
interface Unheld {
  /** The first of them. */
  readonly crons: readonly string[];
  readonly total: number;
}

interface Holding {
  readonly pods: readonly Pod[];
  /** Of all leases as many as were asked for. */
  readonly leases: readonly Lease[];
  readonly unheld: Unheld;
}

/** One row for each pod that may hold crons or holds some, by name; above them one for what nobody holds, where there is any. */
export function shareOut({ pods, leases, unheld }: Holding): Row[] {
  const schedulers = pods.filter(({ roles }) => roles.includes('scheduler'));
  const counted = new Map(schedulers.map(({ pod, held }) => [pod, held ?? 0]));
  const byPod = new Map<string, Held[]>(schedulers.map(({ pod }) => [pod, []]));
  for (const lease of leases) {
    const held = byPod.get(lease.holder) ?? [];
    held.push({ cron: lease.cron, lease });
    byPod.set(lease.holder, held);
  }
  const most = Math.max(MIN_IN_A_ROW, Math.min(MAX_IN_A_ROW, Math.floor(MAX_OVERALL / Math.max(1, byPod.size))));
  const rows = [...byPod]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([pod, held]) => {
      // Not all leases may have been asked for, and what a pod has said of itself may be older than they are.
      return { pod, shown: held.slice(0, most), total: Math.max(held.length, counted.get(pod) ?? 0) };
    });
  const shown = unheld.crons.slice(0, most).map((cron) => ({ cron, lease: null }));
  return unheld.total === 0 ? rows : [{ pod: null, shown, total: unheld.total }, ...rows];
}
