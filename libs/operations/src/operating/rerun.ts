import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { OperatorLog, TriggerReply, TriggerRequest } from '@fencepost/ledger';
import { occurrenceId, type Run, type RunState } from '@fencepost/ledger/run';
import { RunStateError } from './run-errors.js';

export interface RerunJob {
  readonly run: Run;
  readonly entry: CatalogEntry;
  readonly by: string;
  /** JSON. */
  readonly payload: string | null;
  readonly force: boolean;
  readonly randomUUID: () => string;
}

export type Rerun = Extract<TriggerReply, { readonly verdict: 'claimed' }>;

/** A run that was run again so often is left to somebody who looks why. */
const MAX_RERUNS = 1_000;

/**
 * Makes a run that goes on where another one ended, as `<id>-r1`. Where that is there and has ended badly too, the next one,
 * which goes on where that ended: what any of them has done is not done again.
 * @throws {RunStateError} where one of them is still going, or has succeeded, and where the new one may not be
 */
export async function rerun(ledger: Pick<OperatorLog, 'trigger'>, job: RerunJob): Promise<Rerun> {
  const first = firstOf(job.run.id);
  let last = first === job.run.id ? 0 : Number(job.run.id.slice(first.length + 2));
  let rerunOf = job.run.id;
  for (;;) {
    const runId = `${first}-r${(last += 1)}`;
    const reply = await ledger.trigger(requestOf(job, { runId, rerunOf, first }));
    if (reply.verdict === 'claimed') return reply;
    if (reply.verdict !== 'exists' || last > MAX_RERUNS) throw refused(job.run.id, reply);
    if (!hasEndedBadly(reply.state)) throw refused(job.run.id, { verdict: 'exists', runId, state: reply.state });
    // One that was skipped has done nothing, and knows nothing of what those before it did.
    if (reply.state !== 'skipped') rerunOf = runId;
  }
}

interface Names {
  readonly runId: string;
  readonly rerunOf: string;
  readonly first: string;
}

/** Only ids that this function has given end so. */
function firstOf(runId: string): string {
  return runId.replace(/-r\d+$/, '');
}

function hasEndedBadly(state: RunState): boolean {
  return state === 'failed' || state === 'cancelled' || state === 'skipped';
}

function requestOf({ run, entry, by, payload, force, randomUUID }: RerunJob, names: Names): TriggerRequest {
  const { overlap, maxConcurrency, cancelGraceMs } = entry.definition;
  const { cron, scheduledAt, generation, handler, missed, priority } = run;
  return {
    runId: names.runId,
    rerunOf: names.rerunOf,
    nonce: randomUUID(),
    // What was never an instant of the schedule has none that the cursor could have passed.
    scheduledAt: names.first === occurrenceId({ cron, scheduledAt }) ? scheduledAt : null,
    reason: 'manual',
    ...{ generation, payload, handler, missed, priority, by },
    overlap: force ? 'allow' : overlap,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    ...(cancelGraceMs === undefined ? {} : { cancelGraceMs }),
  };
}

type Refusal =
  | Exclude<TriggerReply, { readonly verdict: 'claimed' | 'exists' }>
  | { readonly verdict: 'exists'; readonly state: RunState; readonly runId?: string };

function refused(id: string, reply: Refusal): RunStateError {
  switch (reply.verdict) {
    case 'exists':
      return new RunStateError(
        id,
        `The run "${id}" was already run again, as "${reply.runId ?? `${id}-r${MAX_RERUNS}`}", which is ${reply.state}. See that run.`,
      );
    case 'skipped':
      return new RunStateError(
        id,
        `The run "${id}" was not run again: the maximum number of open runs of its cron is reached. Wait until one has ended, cancel ` +
          `one, or use force.`,
      );
    case 'ahead':
    case 'forgotten':
      return new RunStateError(
        id,
        `The run "${id}" was not run again: the ledger no longer keeps it or its instant (${reply.verdict}). Trigger its cron instead.`,
      );
  }
}
