import { FencepostError } from '@fencepost/lease';
import type { UnknownReason, UnresolvedEffect } from '@fencepost/ledger/run';
import { FinalError } from './errors.js';

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
