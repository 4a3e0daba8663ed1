import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import { z } from 'zod';
import type { CronHandler, Limits } from '../running/delivery.js';
import type { RunContext, TransactionalRunContext } from '../running/run-context.js';
import { isAmbiguous, parseDuration } from '@fencepost/lease/internal/options';

/**
 * What stands at a method, and holds for each run it carries out: also for those of crons that are made at run time and name
 * it as their handler. No part of a cron's definition. Durations are texts such as `'30s'`, or milliseconds.
 */
export interface HandlerOptions {
  /**
   * What a run that goes on twice costs: `'efficiency'`, the default, only work; `'correctness'` damage. A worker with such a
   * handler refuses to start where the store may lose what it acknowledged.
   */
  readonly criticality?: Criticality;
  /**
   * Whether the method calls `run.transaction`: it takes a {@link TransactionalRunContext} then, and a worker whose ledger is
   * not in PostgreSQL refuses to start; default `false`.
   */
  readonly transactions?: boolean;
  /** An attempt that takes longer is aborted by `run.signal` and has failed; default: no limit. */
  readonly timeout?: string | number;
  /**
   * Of runs for which it returns the same text, at most `maxPerKey` go on at once, over all workers; the others wait. It is
   * given `run.payload`, has to return the same each time, and may return any text. When it throws, the run has failed.
   */
  concurrencyKey?(payload: unknown): string;
  /** With `concurrencyKey`; 1 to 1,000, default 1. */
  readonly maxPerKey?: number;
  /** At most `max` attempts, 1 to 1,000, begin in any span of `per`, `'10ms'` to `'24h'`, over all workers; the others wait. */
  readonly rateLimit?: { readonly max: number; readonly per: string | number };
  /** Carried out only by workers of this pool (`pools` of `JobsModule`), through a queue of its own; default `'default'`. */
  readonly pool?: string;
  readonly retry?: {
    /** All tries together; default 3. */
    readonly attempts?: number;
    /** Before the second try; doubles from try to try, with jitter; default `'1s'`. */
    readonly delay?: string | number;
    /** Default `'5m'`. */
    readonly maxDelay?: string | number;
  };
}

/** What a method takes: only one that says so may begin transactions, so that every other one runs on any ledger. */
export type ContextOf<Transactions extends boolean> = Transactions extends true ? TransactionalRunContext : RunContext;

/** For methods that can take what the worker hands them, of classes that the option functions accept. */
export type HandlerDecorator<Run, Self = object> = <Method extends (run: Run) => unknown>(
  target: Self,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

/** One of several words. */
export function choice<const Value extends string>(...values: [Value, ...Value[]]) {
  return z.enum(values, `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`);
}

export function whole(least: number, most: number) {
  const expected = `a whole number from ${least} to ${most}`;
  return z.int(expected).min(least, expected).max(most, expected);
}

const POOL = 'a name of 1 to 64 letters, digits or . _ -';

export const poolName = z.string(POOL).regex(/^[A-Za-z0-9._-]{1,64}$/, POOL);

const KEY = 'a function from the payload to a string';

const retrySchema = z
  .strictObject(
    {
      attempts: whole(1, 100).default(3),
      delay: duration('0ms', '24h').default(1_000),
      maxDelay: duration('0ms', '24h').default(300_000),
    },
    'an object such as { attempts: 3 }',
  )
  .prefault({});

const rateSchema = z
  .strictObject({ max: whole(1, 1_000), per: duration('10ms', '24h') }, 'an object such as { max: 10, per: "1m" }')
  .optional();

/** The schemas of {@link HandlerOptions}, by option, to be spread into that of a decorator. */
export const HANDLER_SHAPE = {
  criticality: choice('efficiency', 'correctness').default('efficiency'),
  transactions: z.boolean('true or false').default(false),
  timeout: duration('1ms', '7d').optional(),
  concurrencyKey: z.custom<(payload: unknown) => string>((value) => typeof value === 'function', KEY).optional(),
  maxPerKey: whole(1, 1_000).optional(),
  rateLimit: rateSchema,
  pool: poolName.optional(),
  retry: retrySchema,
};

const shape = z.object(HANDLER_SHAPE);

/** {@link HandlerOptions} once they are checked. */
export type CheckedHandlerOptions = z.output<typeof shape>;

/** The options there are in an option, by its name, for a message that lists them. */
export const HANDLER_PARTS = { retry: retrySchema.unwrap().shape, rateLimit: rateSchema.unwrap().shape };

/** What is wrong with options that are valid one by one; `null` if nothing is. */
export function handlerContradiction(options: CheckedHandlerOptions): HandlerContradiction | null {
  const { maxPerKey, concurrencyKey } = options;
  if (maxPerKey === undefined || concurrencyKey !== undefined) return null;
  return { option: 'maxPerKey', expected: 'concurrencyKey beside it', got: 'concurrencyKey nothing' };
}

export interface HandlerContradiction {
  readonly option: string;
  readonly expected: string;
  readonly got: string;
}

/** What {@link HandlerOptions} say of a handler: all but the method itself and the reading of its payload. */
export type HandlerTerms = Omit<CronHandler, 'handle' | 'readPayload'>;

export function handlerTerms(options: CheckedHandlerOptions): HandlerTerms {
  const { criticality, transactions, timeout, pool, retry } = options;
  const limits = limitsOf(options);
  return {
    criticality,
    retry: { attempts: retry.attempts, delayMs: retry.delay, maxDelayMs: retry.maxDelay },
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(transactions ? { transactions } : {}),
    ...(pool === undefined ? {} : { pool }),
    ...(limits === null ? {} : { limits }),
  };
}

/** `null` for none, so that a handler without them costs nothing. */
function limitsOf({ concurrencyKey, maxPerKey = 1, rateLimit }: CheckedHandlerOptions): Limits | null {
  if (!concurrencyKey && !rateLimit) return null;
  return {
    ...(concurrencyKey ? { key: concurrencyKey, perKey: maxPerKey } : {}),
    ...(rateLimit ? { rate: { max: rateLimit.max, perMs: rateLimit.per } } : {}),
  };
}

/** An option such as `'30s'` or a whole number of milliseconds (1,000 and more, or 0), between two bounds; becomes milliseconds. */
export function duration(shortest: string, longest: string) {
  const expected = `expected a duration from '${shortest}' to '${longest}'`;
  const [least, most] = [parseDuration(shortest), parseDuration(longest)];
  return z.union([z.string(), z.number()], expected).transform((value, context) => {
    const ms = milliseconds(value);
    if (!isAmbiguous(value) && ms !== null && ms >= least && ms <= most) return ms;
    const unit = isAmbiguous(value) ? ` with its unit, '${value}s' or '${value}ms'` : '';
    context.addIssue({ code: 'custom', message: `${expected}${unit}` });
    return z.NEVER;
  });
}

function milliseconds(value: string | number): number | null {
  try {
    return parseDuration(value);
  } catch {
    return null;
  }
}
