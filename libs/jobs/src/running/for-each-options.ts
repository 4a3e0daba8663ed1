import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { EffectContext, IfUnknown } from './effect-context.js';
import { readIfUnknown } from './effect-options.js';
import { EffectOptionParser } from './effect-option-parser.js';

/** Durations are texts such as `'30s'`, or whole milliseconds. */
export interface ForEachOptions {
  /** What its items are recorded under, `'items'` by default; once in a run. */
  readonly name?: string;
  /**
   * How many items are begun, and recorded, with one call of the ledger; from 1 to 1,000, 50 by default. After a crash the
   * outcome of all items of the batch under way is unknown: where that is to be asked about, the default is `concurrency`.
   */
  readonly batchSize?: number;
  /** How many items of a batch are carried out at once; from 1 to 1,000, 1 by default. */
  readonly concurrency?: number;
  /** As for an effect, of each item; `done` of a lookup's answer is not kept. */
  readonly ifUnknown?: IfUnknown<unknown>;
  /** How long one item, or its lookup, may take. One that takes longer has an unknown outcome: it has not failed. */
  readonly timeout?: string | number;
}

/** What became of the items in this attempt. Returned only when none failed. */
export interface ForEachCounts {
  readonly done: number;
  readonly failed: number;
  /** Done by an earlier attempt. */
  readonly skipped: number;
}

/** Carries out one item. `idempotencyKey` is `<run id>/<name>/<key>`. */
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
  // Each item that was begun is a question after a crash, also the one whose turn had not come.
  const usual = ifUnknown === 'ask' ? concurrency : Math.max(USUAL_BATCH, concurrency);
  return {
    name,
    ifUnknown,
    concurrency,
    batchSize: parser.whole('batchSize', usual, MAX),
    timeoutMs: parser.timeout(),
  };
}
