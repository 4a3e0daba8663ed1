import type { CancelReply, TriggerReply } from '@fencepost/ledger';
import { FencepostError } from '@fencepost/lease';

/** What was asked for can't be done as things are; nothing was changed. */
export class StateConflictError extends FencepostError {
  readonly code = 'STATE_CONFLICT';

  constructor(
    message: string,
    /** What the store has answered, for programs. */
    readonly details: TriggerReply | CancelReply,
  ) {
    super(message);
  }
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
        reply.reason === 'overlap'
          ? `"${cron}" was not run: the maximum of open runs is reached. Use force to run it anyway.`
          : `"${cron}" was not run: an open run of it waits already, because no live worker has its handler. Start one.`,
        reply,
      );
    case 'exists':
      return new StateConflictError(`"${cron}" was not run: the run already exists and is ${reply.state}.`, reply);
    case 'ahead':
      return new StateConflictError(`"${cron}" was not run: its instant is in the future.`, reply);
    case 'forgotten':
      return new StateConflictError(
        `"${cron}" was not run: the order arrived over ten minutes late, or was repeated after its run had ` +
          `expired. Repeat the order.`,
        reply,
      );
  }
}

export function runIsOver(runId: string, reply: Extract<CancelReply, { verdict: 'terminal' }>): FencepostError {
  return new StateConflictError(`Run "${runId}" is not open; it is ${reply.state}. Nothing was changed.`, reply);
}

export function runIsUnknown(runId: string): FencepostError {
  return new UnknownThingError(`Run ${JSON.stringify(runId)} not found: it never existed, or its record has expired.`);
}
