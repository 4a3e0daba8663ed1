import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { EffectContext, IfUnknown } from './effect-context.js';
import { readIfUnknown } from './effect-options.js';
import { EffectOptionParser } from './effect-option-parser.js';

/** Durations are texts such as `'30s'`, or whole milliseconds. */
export interface ForEachOptions {
  /** The name under which its items are recorded, default `'items'`; unique in a run. */
  readonly name?: string;
  /**
   * How many items are begun and recorded with one call to the ledger; from 1 to 1,000, default 50. After a crash the
   * outcome of all items of the current batch is unknown: with `ifUnknown: 'ask'`, the default is `concurrency`.
   */
  readonly batchSize?: number;
  /** How many items of a batch are executed at once; from 1 to 1,000, default 1. */
  readonly concurrency?: number;
  /** As for an effect, for each item; the `done` value of a lookup is not kept. */
  readonly ifUnknown?: IfUnknown<unknown>;
  /** Timeout of one item, or of its lookup. An item that times out has an unknown outcome: it has not failed. */
  readonly timeout?: string | number;
}

/** The result of this attempt. Returned only if no item failed. */
export interface ForEachCounts {
  readonly done: number;
  readonly failed: number;
  /** Done by an earlier attempt. */
  readonly skipped: number;
}

/** Executes one item. `idempotencyKey` is `<run id>/<name>/<key>`. */
export type ItemAct<T> = (item: T, context: EffectContext) => unknown;

export interface ForEachSettings {
  readonly name: string;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly ifUnknown: IfUnknown<unknown>;
  readonly timeoutMs: number | null;
}

const KNOWN = ['name', 'batchSize', 'concurrency', 'ifUnknown', 'timeout'];
const USUAL_BATCH = 50;
const MAX = 1_000;

/** @throws {EffectOptionError} */
export function readForEachOptions(name: string, given: unknown, criticality: Criticality): ForEachSettings {
  const parser = new EffectOptionParser(`the items "${name}"`, { given, known: KNOWN });
  const ifUnknown = readIfUnknown(parser, criticality);
  const concurrency = parser.whole('concurrency', 1, MAX);
  // After a crash, each item that was begun needs an operator, even one that was not called yet.
  const usual = ifUnknown === 'ask' ? concurrency : Math.max(USUAL_BATCH, concurrency);
  return {
    name,
    ifUnknown,
    concurrency,
    batchSize: parser.whole('batchSize', usual, MAX),
    timeoutMs: parser.timeout(),
  };
}
