import { lateBy } from '@fencepost/jobs';
import type { Run } from '@fencepost/ledger/run';
import { formatFence } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';

interface Named {
  readonly name: string;
  readonly id?: string | number | null | undefined;
}

/** `nightly-report · 2026-11-21T03:00:00.000Z`, and why it runs where that is not the schedule. */
export function jobName({ name }: Named, run: Run | null): string {
  if (!run) return name;
  const why = run.reason === 'schedule' ? '' : ` · ${run.reason}`;
  return `${run.cron} · ${new Date(run.scheduledAt).toISOString()}${why}`;
}

/** What a person wants to know of a delivery: it holds no more than the id of its run, and the ledger has the rest. */
export function jobData(data: unknown, run: Run | null): unknown {
  if (!run) return data;
  const lateByMs = lateBy(run);
  return {
    runId: run.id,
    cron: run.cron,
    scheduledAt: new Date(run.scheduledAt).toISOString(),
    lateness: lateByMs === null ? (run.startedAt === null ? 'not begun' : 'none') : `${lateByMs} ms`,
    attempt: run.attempt,
    fence: run.fence === null ? null : formatFence(run.fence),
    outcome: run.state,
    error: run.error,
    worker: run.worker === null ? null : ownerPrefix(run.worker),
  };
}
