import { FencepostError } from '@fencepost/lease';

/** A name an effect can't have. The name is its identity in every later attempt, so it is checked and never mended. */
export class EffectNameError extends FencepostError {
  readonly code = 'EFFECT_NAME';

  constructor(runId: string, name: unknown, expected: string) {
    super(`Expected ${expected} as the name of an effect of run "${runId}", got ${JSON.stringify(name)}.`);
  }
}

/** The effect has happened, and its result can't be recorded. */
export class EffectResultError extends FencepostError {
  readonly code = 'EFFECT_RESULT';

  constructor(effect: string, cause: unknown) {
    const why = cause instanceof Error ? `JSON can't carry it (${cause.message.split('\n')[0]})` : String(cause);
    super(
      `The effect "${effect}" has happened, but its result can't be recorded: ${why}. ` +
        `Return plain data of at most 64 KiB from it, or nothing.`,
      { cause },
    );
  }
}

/** The worker stops, and the attempt did not end within the drain deadline. */
export class ShutdownError extends FencepostError {
  readonly code = 'SHUTDOWN';

  constructor() {
    super('The worker is shutting down and its drain deadline has passed; another worker takes the run over.');
  }
}

/** Somebody wants the run to stop. A handler that heeds its signal ends, and the run is recorded as cancelled. */
export class RunCancelledError extends FencepostError {
  readonly code = 'RUN_CANCELLED';

  constructor(runId: string) {
    super(`Run "${runId}" was cancelled while it ran; stop now, it is fenced out when its grace is over.`);
  }
}
