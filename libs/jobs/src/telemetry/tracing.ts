import type { Fence } from '@fencepost/lease';

/** Where a span stands, as a text that goes along with a job. */
export type TraceCarrier = string;

interface OfRun {
  readonly cron: string;
  readonly runId: string;
}

export interface TracedClaim {
  readonly cron: string;
  /** `null` for a claim that was refused. */
  readonly runId: string | null;
  readonly fence: Fence;
  /** When the ledger was asked, epoch milliseconds. */
  readonly since: number;
}

export interface TracedAttempt extends OfRun {
  /** How often the run was enqueued: more than once means that a worker or a delivery was lost. */
  readonly delivery: number;
  readonly attempt: number;
  readonly fence: Fence;
  /** All of its identity; a span shows what is no secret of it. */
  readonly worker: string;
}

export interface TracedEffect extends Omit<TracedAttempt, 'worker' | 'delivery'> {
  readonly effect: string;
}

export interface TracedDelivery extends OfRun {
  readonly delivery: number;
  /** What it comes from; without it, what the caller is doing. */
  readonly from: TraceCarrier | undefined;
}

/** A delivery that is being enqueued. */
export interface EnqueueSpan {
  readonly carrier: TraceCarrier;
  /** @param error why it could not be enqueued */
  end(error?: unknown): void;
}

/**
 * What is traced of a run, over all processes: claim → enqueue → the queue's own span → attempt → effect, each one the child of
 * the one before. Only a picture for people: nothing may depend on it, and nothing of it throws.
 */
export interface Tracing {
  /** The `telemetry` of a BullMQ worker, which goes on with the trace that came with a job. */
  readonly bullmq: unknown;
  /** After the ledger has answered. @returns what goes along with the delivery; `undefined` while nobody records */
  claimed(claim: TracedClaim): TraceCarrier | undefined;
  /** @returns `undefined` while nobody records */
  enqueueing(delivery: TracedDelivery): EnqueueSpan | undefined;
  attempt<T>(attempt: TracedAttempt, work: () => Promise<T>): Promise<T>;
  effect<T>(effect: TracedEffect, work: () => Promise<T>): Promise<T>;
}
