import { parseFence } from '@fencepost/lease';
import type { Delivery } from '../base/ledger.js';
import type { MissedRange, Run } from '../base/run.js';

/** A run as `describe_run` shows it: fences as digits, because JSON has no integers of 64 bits. */
export type RunRow = Omit<Run, 'claimFence' | 'fence' | 'missed' | 'cancel'> & {
  readonly claimFence: string;
  readonly fence: string | null;
  readonly missed: MissedRange | null;
  readonly cancel: Run['cancel'];
};

export function decodeRun(row: RunRow): Run {
  return { ...row, claimFence: parseFence(row.claimFence), fence: row.fence === null ? null : parseFence(row.fence) };
}

/** A delivery as the functions show it. */
export type DeliveryRow = Omit<Delivery, 'priority'> & { readonly priority: number | null };

/** None is absent there, and `null` in JSON. */
export function decodeDelivery<T extends DeliveryRow>({ priority, ...rest }: T): Omit<T, 'priority'> & Delivery {
  return priority === null ? { ...rest } : { ...rest, priority };
}
