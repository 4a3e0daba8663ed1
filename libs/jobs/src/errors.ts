/* What is thrown where an option, a name, a payload or an order is refused; every one has a `code`. */

export { UnknownCronError, IdempotencyKeyError } from './enqueuing/errors.js';
export { ClassificationError, CronDeclarationError } from './nest/declaration-errors.js';
export { ConcurrencyKeyError } from './running/within-limits.js';
export {
  EffectOptionError,
  EffectPayloadError,
  EffectTimeoutError,
  TransactionUnavailableError,
} from './running/effect-errors.js';
export {
  EffectNameError,
  EffectResultError,
  PayloadError,
  JobPayloadError,
  ForEachError,
  ForEachKeyError,
} from './running/errors.js';
