import { parseFence } from '@fencepost/lease';
import { presentLease, type DuplicateWatch, type OwnLeaseWatch, type WatchReport } from '../jobs.js';
import { iso } from '../report.js';
import type { Answers, Deployment, Watched, WatchedLease } from './deployment.js';

type Look = Parameters<DuplicateWatch['see']>[0];
type Holding = Exclude<Look['holding'], null>;

export function presentHolding(cron: string, holding: Holding | null): Answers['Lease'] | null {
  return holding && presentLease({ cron, ...holding });
}

export function presentWatch({ from, holding, ...report }: WatchReport): Watched {
  return { ...report, from: iso(from), holding: presentHolding(report.cron, holding) };
}

export function presentOwnWatch(report: ReturnType<OwnLeaseWatch['report']>): WatchedLease {
  const { observations, verdict, holding } = report;
  const shown = holding && presentLease({ cron: report.resource, ...holding });
  return { observations, verdict, holding: shown && { holder: shown.holder, fence: shown.fence } };
}

const RUNS_LOOKED_AT = 100;

type Looked = Pick<Deployment, 'cron' | 'runs' | 'leases'> & {
  entries(cron: string): Promise<Answers['JournalEntry'][]>;
};

/** What a watch looks at, as a console shows it. */
export async function lookAt(at: Looked, cron: string): Promise<Look> {
  const [{ refusals }, runs, entries, { held }] = await Promise.all([
    at.cron(cron),
    at.runs(cron, { limit: RUNS_LOOKED_AT }),
    at.entries(cron),
    at.leases({ cron }),
  ]);
  const lease = held.find((one) => one.cron === cron);
  return {
    refusals,
    runs: runs.map(readRun),
    entries: entries.map(({ event, pod, at: when }) => ({ event, pod, at: Date.parse(when) })),
    holding: lease ? { holder: lease.holder, fence: parseFence(lease.fence), remainingMs: lease.remainingMs } : null,
  };
}

function readRun(run: Answers['Run']): Look['runs'][number] {
  const { id, reason, state, attempt, worker, claimedBy, claimFence, attemptedAt, finishedAt } = run;
  return {
    ...{ id, reason, state, attempt, worker, claimedBy },
    claimFence: parseFence(claimFence),
    scheduledAt: Date.parse(run.scheduledAt),
    claimedAt: Date.parse(run.claimedAt),
    attemptedAt: attemptedAt === null ? null : Date.parse(attemptedAt),
    finishedAt: finishedAt === null ? null : Date.parse(finishedAt),
  };
}

export function readOwnLease({ kind, holder, fence, remainingMs }: Answers['OwnLease']) {
  return { kind, holder, fence: parseFence(fence), remainingMs };
}
