import { FencepostError } from '@fencepost/lease';
import type { UnresolvedEffect } from '@fencepost/ledger/run';
import { FinalError } from './errors.js';

/** An option that can't be. Nothing was begun. */
export class EffectOptionError extends FinalError {
  readonly code = 'EFFECT_OPTION';

  /** @param of what the option stands at, such as `the effect "mail"` */
  constructor(of: string, option: string, { expected, got }: { readonly expected: string; readonly got: string }) {
    super(`Expected ${expected} as the option ${option} of ${of}, got ${got}.`);
  }
}

/**
 * Nobody knows whether the effect has happened. A handler throws it out of an effect when it can't tell, a connection
 * that broke after the request was sent for example; what comes then is said by the option `ifUnknown`.
 */
export class EffectUnknownError extends FencepostError {
  readonly code = 'EFFECT_UNKNOWN';

  constructor(message = 'Nobody knows whether the effect has happened.', options?: ErrorOptions) {
    super(message, options);
  }
}

/** An effect didn't come back in time: the reason of its signal, and the cause of what is thrown for it. */
export class EffectTimeoutError extends FencepostError {
  readonly code = 'EFFECT_TIMEOUT';

  constructor(
    readonly effect: string,
    timeoutMs: number,
  ) {
    super(`Expected the effect "${effect}" to come back within ${timeoutMs} ms, and it did not.`);
  }
}

const DOUBT: Record<UnresolvedEffect['doubt'], string> = {
  lost: 'an attempt began it and never said how it ended',
  timeout: 'it did not come back in time',
  'payload-changed': 'an earlier attempt began it with another payload under the same idempotency key',
  'key-expired': 'it was begun so long ago that its provider may have forgotten the idempotency key',
};

/** A person has to say whether the effect has happened. Let it pass: this attempt begins nothing more, and ends uncertain. */
export class EffectUnresolvedError extends FencepostError {
  readonly code = 'EFFECT_ASKED';

  constructor(
    readonly question: UnresolvedEffect,
    options?: ErrorOptions,
  ) {
    const { effect, item, doubt } = question;
    const what = item === null ? `the effect "${effect}"` : `the item "${item}" of "${effect}"`;
    super(`Nobody knows whether ${what} has happened: ${DOUBT[doubt]}. A person has to say; resolve the run.`, options);
  }
}

/** The effect is done, and was done with another payload than this attempt wants to send. */
export class EffectPayloadError extends FinalError {
  readonly code = 'EFFECT_PAYLOAD';

  constructor(effect: string) {
    super(
      `The effect "${effect}" is done, and was done with another payload than it has now. Its name is its identity: ` +
        `give what is different another name, or leave the option payload as it was.`,
    );
  }
}

/** `run.transaction` needs the ledger to be in the database of the rows. */
export class TransactionUnavailableError extends FinalError {
  readonly code = 'TRANSACTION_UNAVAILABLE';

  constructor(name: string) {
    super(
      `Expected a PostgreSQL ledger for the transaction "${name}", got one that has no transactions. Set ledger: "postgres" in ` +
        `JobsModule, with the database of your rows, or use run.effect with its idempotency key instead of run.transaction.`,
    );
  }
}
