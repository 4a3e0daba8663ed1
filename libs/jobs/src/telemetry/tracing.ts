import type { Fence } from '@fencepost/lease';

/** The context of a span, as a text stored with a job. */
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
  /** When the ledger was called, epoch milliseconds. */
  readonly since: number;
}

export interface TracedAttempt extends OfRun {
  /** How often the run was enqueued: more than once means that a worker or a delivery was lost. */
  readonly delivery: number;
  readonly attempt: number;
  readonly fence: Fence;
  /** Its whole identity; a span shows the part that is not secret. */
  readonly worker: string;
}

export interface TracedEffect extends Omit<TracedAttempt, 'worker' | 'delivery'> {
  readonly effect: string;
}

export interface TracedDelivery extends OfRun {
  readonly delivery: number;
  /** The parent; default the active span. */
  readonly from: TraceCarrier | undefined;
}

/** A delivery that is being enqueued. */
export interface EnqueueSpan {
  readonly carrier: TraceCarrier;
  /** @param error why it could not be enqueued */
  end(error?: unknown): void;
}

/**
 * The trace of a run over all processes: claim → enqueue → span of the queue → attempt → effect, each the child of
 * the previous one. For display only: nothing depends on it, and no method throws.
 */
export interface Tracing {
  /** The `telemetry` of a BullMQ worker, which continues the trace of a job. */
  readonly bullmq: unknown;
  /** Called after the reply of the ledger. @returns the context for the delivery; `undefined` without a recording span */
  claimed(claim: TracedClaim): TraceCarrier | undefined;
  /** @returns `undefined` without a recording span */
  enqueueing(delivery: TracedDelivery): EnqueueSpan | undefined;
  attempt<T>(attempt: TracedAttempt, work: () => Promise<T>): Promise<T>;
  effect<T>(effect: TracedEffect, work: () => Promise<T>): Promise<T>;
}
