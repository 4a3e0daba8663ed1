import type { TriggerReply } from '@fencepost/ledger';
import { FencepostError } from '@fencepost/lease';

/** What was asked for can't be done as things are; nothing was changed. */
class StateConflictError extends FencepostError {
  readonly code = 'STATE_CONFLICT';
}

class UnknownThingError extends FencepostError {
  readonly code = 'RUN_UNKNOWN';
}

type Refused = Exclude<TriggerReply, { readonly verdict: 'claimed' }>;

/** The store has refused a run that somebody asked for. */
export function refusedRun(cron: string, reply: Refused): FencepostError {
  switch (reply.verdict) {
    case 'skipped':
      return new StateConflictError(
        `"${cron}" was not run: as many of its runs are open as may be. force runs it beside them.`,
      );
    case 'exists':
      return new StateConflictError(`"${cron}" was not run: the run is there already, it is ${reply.state}.`);
    case 'ahead':
      return new StateConflictError(`"${cron}" was not run: its instant is ahead.`);
    case 'forgotten':
      return new StateConflictError(
        `"${cron}" was not run: the order arrived over ten minutes after it was given, or again after its run was over and ` +
          `forgotten. Give it again.`,
      );
  }
}

export function runIsOver(runId: string, state: string): FencepostError {
  return new StateConflictError(`Expected run "${runId}" to be open, it is ${state}: nothing was changed.`);
}

export function runIsUnknown(runId: string): FencepostError {
  return new UnknownThingError(`Expected the id of a run that the ledger has, got ${JSON.stringify(runId)}.`);
}

/** The run that a reply is about, for its record. */
export function runIdOf(reply: TriggerReply): string | null {
  return reply.verdict === 'claimed' ? reply.runId : null;
}
