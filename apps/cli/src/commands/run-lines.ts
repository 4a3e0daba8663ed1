import { ownerPrefix } from '@fencepost/lease/internal';
import { lateBy, type Run } from '../jobs.js';
import { shortIso } from '../report.js';

export const RUN_HEAD = ['RUN', 'STATE', 'DUE (UTC)', 'LATE', 'TOOK', 'TRY', 'WORKER', ''];

/** A run as one line of a table. */
export function runRow(run: Run): string[] {
  const { id, state, skipped, dueAt, startedAt, finishedAt, attempt, worker, error, waiting } = run;
  const lateMs = lateBy(run);
  const late = lateMs === null ? '-' : duration(lateMs);
  const took = startedAt === null || finishedAt === null ? '-' : duration(finishedAt - startedAt);
  return [
    ...[
      id,
      skipped === null ? state : `${state}: ${skipped}`,
      shortIso(dueAt),
      late,
      took,
      attempt === 0 ? '-' : `${attempt}`,
    ],
    ...[worker === null ? '-' : ownerPrefix(worker), error ?? waiting ?? ''],
  ];
}

export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 120_000) return `${(whole / 1_000).toFixed(1)} s`;
  return whole < 7_200_000 ? `${Math.round(whole / 60_000)} min` : `${(whole / 3_600_000).toFixed(1)} h`;
}
