import { parseFence } from '@fencepost/lease';
import type { MissedRange, Run } from '../run.js';

/** A run as `describe_run` shows it: fences as digits, because JSON has no integers of 64 bits. */
export type RunRow = Omit<Run, 'claimFence' | 'fence' | 'missed' | 'cancel'> & {
  readonly claimFence: string;
  readonly fence: string | null;
  readonly missed: MissedRange | null;
  readonly cancel: Run['cancel'];
};

export function readRunRow(row: RunRow): Run {
  return { ...row, claimFence: parseFence(row.claimFence), fence: row.fence === null ? null : parseFence(row.fence) };
}
