/* What is thrown where an option, a name, a payload or an order is refused; every one has a `code`. */

export { UnknownCronError } from './enqueuing/errors.js';
export { IdempotencyKeyError } from './enqueuing/job-errors.js';
export { ClassificationError } from './nest/classification-error.js';
export { CronDeclarationError } from './nest/cron-declaration-error.js';
export { ConcurrencyKeyError } from './running/concurrency-key.js';
export {
  EffectOptionError,
  EffectPayloadError,
  EffectTimeoutError,
  TransactionUnavailableError,
} from './running/effect-errors.js';
export { EffectNameError, EffectResultError, PayloadError } from './running/errors.js';
export { ForEachError, ForEachKeyError } from './running/for-each-errors.js';
export { JobPayloadError } from './running/job-payload-error.js';
