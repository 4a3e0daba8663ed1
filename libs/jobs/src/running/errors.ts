import { FencepostError } from '@fencepost/lease';
import type { UnknownReason, UnresolvedEffect } from '@fencepost/ledger/run';
import { whyNotKept } from './result-json.js';

/** Another attempt would fail in the same way: the run fails for good, whatever its retry policy. */
export abstract class FinalError extends FencepostError {}

/** An invalid effect name. The name is its identity in every later attempt, so it is checked and never corrected. */
export class EffectNameError extends FinalError {
  readonly code = 'EFFECT_NAME';

  constructor(runId: string, name: unknown, expected: string) {
    super(`Expected ${expected} as the name of an effect of run "${runId}", got ${JSON.stringify(name)}.`);
  }
}

/** The handler returned while one of its effects was in progress, or ignored the failure of one. */
export class UnawaitedEffectError extends FinalError {
  readonly code = 'EFFECT_NOT_AWAITED';

  constructor(effect: string, options?: ErrorOptions) {
    super(
      `Effect "${effect}" was not awaited: the handler returned before its outcome. Await run.effect, ` +
        `run.forEach or run.transaction, or return its promise.`,
      options,
    );
  }
}

/** What happened to an effect whose result cannot be recorded or used. */
const RESULT = {
  recorded: ['happened, but its result cannot be recorded', 'Return plain data of at most 64 KiB from it, or nothing'],
  used: [
    'happened, but its recorded result does not match its schema',
    'Make its schema accept results recorded by earlier builds',
  ],
  'rolled back': [
    'was rolled back because its result cannot be recorded',
    'Return plain data of at most 64 KiB from it, or nothing',
  ],
} as const;

/** The effect has happened, but its result cannot be recorded or, later, used; a transaction is rolled back instead. */
export class EffectResultError extends FinalError {
  readonly code = 'EFFECT_RESULT';

  constructor(effect: string, cause: unknown, became: keyof typeof RESULT = 'recorded') {
    const [what, advice] = RESULT[became];
    super(`The effect "${effect}" ${what}: ${whyNotKept(cause)}. ${advice}.`, { cause });
  }
}

/** The worker is stopping, and the attempt did not end within the drain deadline. */
export class ShutdownError extends FencepostError {
  readonly code = 'SHUTDOWN';

  constructor() {
    super('The worker is shutting down and its drain deadline has passed; another worker takes over the run.');
  }
}

/** An operator cancelled the run. Once the handler has ended, the run is recorded as cancelled. */
export class RunCancelledError extends FencepostError {
  readonly code = 'RUN_CANCELLED';

  constructor(runId: string) {
    super(`Run "${runId}" was cancelled while running. Stop now: its writes are refused after the grace period.`);
  }
}

/** The attempt timed out. It has failed, and is retried under the retry policy. */
export class AttemptTimeoutError extends FencepostError {
  readonly code = 'ATTEMPT_TIMEOUT';

  constructor(runId: string, timeoutMs: number) {
    super(
      `Attempt of run "${runId}" timed out after ${timeoutMs} ms. ` +
        'Honour `run.signal` in the handler, or raise `timeout`.',
    );
  }
}

/** The payload of the run is invalid for its handler. */
export class PayloadError extends FinalError {
  readonly code = 'PAYLOAD';

  constructor(runId: string, cause: unknown) {
    const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
    super(
      `The payload of run "${runId}" does not match the schema of its handler: ${why}. Start a new run with a valid payload.`,
      {
        cause,
      },
    );
  }
}

export interface PayloadIssue {
  /** The path, such as `customer.email`; `payload` for all of it. */
  readonly field: string;
  readonly problem: string;
}

/** Enough to correct a payload: a list of a thousand items may have the same mistake a thousand times. */
const MAX_SHOWN = 5;

/** A payload is invalid for its job: which fields, and why. Every attempt would fail. */
export class JobPayloadError extends FencepostError {
  readonly code = 'JOB_PAYLOAD';

  constructor(
    readonly job: string,
    readonly issues: readonly PayloadIssue[],
  ) {
    const shown = issues.slice(0, MAX_SHOWN).map(({ field, problem }) => `${field}: ${problem}`);
    const more = issues.length > MAX_SHOWN ? `; and ${issues.length - MAX_SHOWN} more` : '';
    super(`Invalid payload for the job "${job}": ${shown.join('; ')}${more}.`);
  }
}

/** An invalid item key. The key is its identity in every later attempt, so it is checked and never corrected. */
export class ForEachKeyError extends FinalError {
  readonly code = 'FOR_EACH_KEY';

  constructor(name: string, key: unknown, expected: string) {
    super(`Expected ${expected} as the key of an item of "${name}", got ${JSON.stringify(key) ?? String(key)}.`);
  }
}

const SHOWN = 10;

/** Some items are not done. The next attempt executes only these. */
export class ForEachError extends FencepostError {
  readonly code = 'FOR_EACH_FAILED';

  /**
   * @param failed the keys of the items that are not done, in their order
   * @param options `cause` is the error of the first of them
   */
  constructor(
    readonly of: string,
    readonly failed: readonly string[],
    options: { readonly cause: unknown },
  ) {
    const shown = failed.slice(0, SHOWN).map((key) => JSON.stringify(key));
    const more = failed.length > SHOWN ? ` and ${failed.length - SHOWN} more` : '';
    const why = options.cause instanceof Error ? options.cause.message : String(options.cause);
    super(`${failed.length} items of "${of}" failed: ${shown.join(', ')}${more}. The first one: ${why}`, options);
  }
}

/** An invalid option. Nothing was begun. */
export class EffectOptionError extends FinalError {
  readonly code = 'EFFECT_OPTION';

  /** @param of what the option belongs to, such as `the effect "mail"` */
  constructor(of: string, option: string, { expected, got }: { readonly expected: string; readonly got: string }) {
    super(`Expected option ${option} of ${of} to be ${expected}, got ${got}.`);
  }
}

/**
 * The outcome of the effect is unknown. Throw it out of an effect when its outcome cannot be known, for example because
 * a connection broke after the request was sent; the option `ifUnknown` decides what happens next.
 */
export class EffectUnknownError extends FencepostError {
  readonly code = 'EFFECT_UNKNOWN';

  constructor(message = 'The outcome of the effect is unknown.', options?: ErrorOptions) {
    super(message, options);
  }
}

/** An effect timed out: the reason of its signal, and the cause of the error thrown for it. */
export class EffectTimeoutError extends FencepostError {
  readonly code = 'EFFECT_TIMEOUT';

  constructor(
    readonly effect: string,
    timeoutMs: number,
  ) {
    super(`Effect "${effect}" timed out after ${timeoutMs} ms.`);
  }
}

const REASON: Record<UnknownReason, string> = {
  lost: 'its worker died before it recorded an outcome',
  timeout: 'it timed out',
  'payload-changed': 'an earlier attempt used the same idempotency key with a different payload',
  'key-expired': 'it began so long ago that its provider may have forgotten the idempotency key',
};

/** An operator must say whether the effect has happened. Let it pass: this attempt ends uncertain and begins nothing more. */
export class EffectUnresolvedError extends FencepostError {
  readonly code = 'EFFECT_ASKED';

  constructor(
    readonly unresolvedEffect: UnresolvedEffect,
    options?: ErrorOptions,
  ) {
    const { effect, item, unknownReason } = unresolvedEffect;
    const what = item === null ? `the effect "${effect}"` : `the item "${item}" of "${effect}"`;
    super(
      `The outcome of ${what} is unknown: ${REASON[unknownReason]}. The run waits until an operator resolves it.`,
      options,
    );
  }
}

/** The effect is done, with another payload than the one of this attempt. */
export class EffectPayloadError extends FinalError {
  readonly code = 'EFFECT_PAYLOAD';

  constructor(effect: string) {
    super(
      `The effect "${effect}" was done with a different payload than it has now. Its name is its identity: ` +
        `use another name for a different effect, or keep the option payload unchanged.`,
    );
  }
}

/** `run.transaction` needs the ledger to be in the database of the rows. */
export class TransactionUnavailableError extends FinalError {
  readonly code = 'TRANSACTION_UNAVAILABLE';

  constructor(name: string) {
    super(
      `The transaction "${name}" needs the ledger in PostgreSQL. Set ledger: "postgres" in ` +
        `JobsModule with the database of your rows, or use run.effect and its idempotency key instead.`,
    );
  }
}
