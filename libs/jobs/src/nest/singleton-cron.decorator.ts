import { SetMetadata } from '@nestjs/common';
import type { MisfirePolicy } from '../catalog/definition.js';
import type { OverlapPolicy } from '../ledger/run.js';

/** Durations are texts such as `'30s'`, or milliseconds. */
export interface SingletonCronOptions {
  /** Names the cron in every process, store and log: 1 to 100 letters, digits or `. _ -`. */
  readonly name: string;
  /** IANA name; default `UTC`, never the zone of the machine. */
  readonly timeZone?: string;
  /** Declares the cron without firing it; default `false`. */
  readonly disabled?: boolean;
  /** What happens with instants that nobody enqueued in time; default `'fire-once'`: the latest one stands for all. */
  readonly misfire?: MisfirePolicy;
  /** What happens while the previous run is still going; default `'skip'`. */
  readonly overlap?: OverlapPolicy;
  /** Later than this after its instant, an occurrence counts as late; default `'60s'`. */
  readonly grace?: string | number;
  /** How far back missed instants are made up for; default: one period, at most `'24h'`. */
  readonly catchUpWindow?: string | number;
  readonly retry?: {
    /** All tries together; default 3. */
    readonly attempts?: number;
    /** Before the second try; doubles from try to try, with jitter; default `'1s'`. */
    readonly delay?: string | number;
    /** Default `'5m'`. */
    readonly maxDelay?: string | number;
  };
}

/** What the decorator leaves at a method; checked at boot, when class and method can be named. */
export interface CronMetadata {
  readonly expression: unknown;
  readonly options: unknown;
}

export const CRON_METADATA = 'fencepost:singleton-cron';

/**
 * Runs a method of a provider at each instant of a schedule: once, on one of all the replicas.
 *
 * `@SingletonCron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin' })`; `CronExpression` of
 * `@nestjs/schedule` is accepted. The method receives a {@link RunContext}.
 */
export function SingletonCron(expression: string, options: SingletonCronOptions): MethodDecorator {
  return SetMetadata<string, CronMetadata>(CRON_METADATA, { expression, options });
}
