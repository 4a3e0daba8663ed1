import { toned } from '../colour.js';
import type { Answers } from '../deployment/deployment.js';
import { shortIso } from '../report.js';
import { table } from '../table.js';

export const RUN_HEAD = ['RUN', 'STATE', 'DUE (UTC)', 'LATE', 'TOOK', 'TRY', 'WORKER', ''];

/** A run as one line of a table. */
export function runRow(run: Answers['Run']): string[] {
  const { id, state, skipped, dueAt, lateByMs, tookMs, attempt, worker, error, waiting } = run;
  return [
    ...[
      id,
      toned(skipped === null ? state : `${state}: ${skipped}`),
      shortIso(dueAt),
      lateByMs === null ? '-' : duration(lateByMs),
      tookMs === null ? '-' : duration(tookMs),
      attempt === 0 ? '-' : `${attempt}`,
    ],
    ...[worker ?? '-', error ?? waiting ?? ''],
  ];
}

/** What `-o wide` adds before the last column. */
const MORE = ['REASON', 'BY', 'FENCE', 'CLAIMED BY'];

export function runTable(runs: readonly Answers['Run'][], width: number, isWide = false): string[] {
  if (!isWide) return table([RUN_HEAD, ...runs.map(runRow)], width);
  const rows = runs.map((run) => widened(runRow(run), [run.reason, run.by ?? '-', run.fence ?? '-', run.claimedBy]));
  return table([widened(RUN_HEAD, MORE), ...rows], width);
}

function widened(row: readonly string[], more: readonly string[]): string[] {
  return [...row.slice(0, -1), ...more, row.at(-1) ?? ''];
}

export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 120_000) return `${(whole / 1_000).toFixed(1)} s`;
  return whole < 7_200_000 ? `${Math.round(whole / 60_000)} min` : `${(whole / 3_600_000).toFixed(1)} h`;
}
