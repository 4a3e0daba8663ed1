/* What is thrown where an option, a name, a payload or an order is refused; every one has a `code`. */

export { UnknownCronError, IdempotencyKeyError } from './enqueuing/errors.js';
export { ClassificationError, CronDeclarationError } from './nest/cron-declaration.js';
export { ConcurrencyKeyError } from './running/within-limits.js';
export {
  EffectOptionError,
  EffectPayloadError,
  EffectTimeoutError,
  TransactionUnavailableError,
  EffectNameError,
  EffectResultError,
  PayloadError,
  JobPayloadError,
  ForEachError,
  ForEachKeyError,
} from './running/errors.js';
