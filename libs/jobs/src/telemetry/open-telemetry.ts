import { SetupError } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import type * as bullmqOtel from 'bullmq-otel';
import type * as api from '@opentelemetry/api';
import type { Attributes, Context, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import { describeError } from './report-failure.js';
import type { Telemetry, EventListener } from './telemetry.js';
import type {
  EnqueueSpan,
  TraceCarrier,
  TracedAttempt,
  TracedClaim,
  TracedDelivery,
  TracedEffect,
  Tracing,
} from './tracing.js';
import type { EventName, Events } from './events.js';

type OpenTelemetry = typeof api;

/** Both are optional. A static import would have to be resolved in every bundle, with tracing or without. */
interface Packages {
  readonly api: OpenTelemetry;
  readonly otel: typeof bullmqOtel;
}

/** @throws {Error} when a package is not installed */
export async function openTelemetryTracing(telemetry: Telemetry): Promise<OpenTelemetryTracing> {
  try {
    // One after the other: a bundler lets a missing package pass only where its import is awaited and caught.
    const api = await import('@opentelemetry/api');
    const otel = await import('bullmq-otel');
    return new OpenTelemetryTracing(telemetry, { api, otel });
  } catch (cause) {
    const text = 'The JobsModule option "tracing" needs the packages @opentelemetry/api and bullmq-otel.';
    throw new SetupError(`${text} Install them, or remove the option. ${String(cause)}`, { cause });
  }
}

/** Replaces spans that are not wanted. */
const NO_SPAN = {
  setSpanOnContext: (parent: Context) => parent,
  setAttribute: () => {},
  setAttributes: () => {},
  addEvent: () => {},
  recordException: () => {},
  end: () => {},
};

/** The part of the `telemetry` interface of BullMQ that is used. */
interface BullmqTelemetry {
  readonly tracer: Pick<bullmqOtel.BullMQOtel['tracer'], 'startSpan'>;
  readonly contextManager: bullmqOtel.BullMQOtel['contextManager'] & { root(): Context };
}

/**
 * The tracing of BullMQ, reduced to the spans around jobs. It also has a span for every fetch and every
 * stalled check: an idle worker would fill a tracing store with these.
 */
function bullmqTelemetry({ api, otel }: Packages): BullmqTelemetry {
  const { tracer: own, contextManager: bullmqContext } = new otel.BullMQOtel({
    tracerName: NAME,
    enableMetrics: false,
  });
  const startSpan: typeof own.startSpan = (name, options, parent) =>
    options?.kind === (api.SpanKind.CONSUMER as number) ? own.startSpan(name, options, parent) : NO_SPAN;
  // A loop that is started inside a span must not stay in it.
  const contextManager = Object.assign(bullmqContext, { root: () => api.ROOT_CONTEXT });
  return { tracer: { startSpan }, contextManager };
}

const NAME = '@fencepost/jobs';

/**
 * Traces with the OpenTelemetry API alone: an application that registers no SDK has no spans, and its jobs do not
 * change.
 */
class OpenTelemetryTracing implements Tracing {
  readonly bullmq: BullmqTelemetry;
  readonly #api: OpenTelemetry;
  readonly #tracer: Tracer;
  readonly #attempts: AttemptSpans;

  constructor(telemetry: Telemetry, packages: Packages) {
    this.bullmq = bullmqTelemetry(packages);
    this.#api = packages.api;
    this.#tracer = packages.api.trace.getTracer(NAME);
    this.#attempts = new AttemptSpans(telemetry);
  }

  claimed({ cron, runId, fence, since }: TracedClaim): TraceCarrier | undefined {
    const attributes = { ...about({ cron, fence }), ...(runId === null ? {} : { 'fencepost.run_id': runId }) };
    // A batch is claimed in one call: the span around it belongs to no single run.
    const span = this.#start('fencepost.claim', { attributes, startTime: since, root: true }, this.#api.ROOT_CONTEXT);
    if (!span) return undefined;
    const outcome = runId === null ? 'refused' : 'claimed';
    end(span, outcome, runId === null ? 'the ledger refused a stale claim' : undefined);
    return this.#carrierOf(this.#api.trace.setSpan(this.#api.ROOT_CONTEXT, span));
  }

  enqueueing({ cron, runId, delivery, from }: TracedDelivery): EnqueueSpan | undefined {
    const { contextManager } = this.bullmq;
    const parent =
      from === undefined ? this.#api.context.active() : contextManager.fromMetadata(this.#api.ROOT_CONTEXT, from);
    const attributes = { ...about({ cron, runId }), 'fencepost.delivery': delivery };
    const span = this.#start('fencepost.enqueue', { attributes, kind: this.#api.SpanKind.PRODUCER }, parent);
    if (!span) return undefined;
    return {
      carrier: this.#carrierOf(this.#api.trace.setSpan(parent, span)),
      end: (error) => end(span, error === undefined ? 'enqueued' : 'failed', error),
    };
  }

  async attempt<T>(attempt: TracedAttempt, work: () => Promise<T>): Promise<T> {
    const { attempt: number, delivery, worker } = attempt;
    const which = { 'fencepost.attempt': number, 'fencepost.delivery': delivery };
    const attributes = { ...about(attempt), ...which, 'fencepost.worker': ownerPrefix(worker) };
    const span = this.#start('fencepost.attempt', { attributes });
    if (!span) return work();
    const close = this.#attempts.open(attempt, span);
    try {
      return await this.#api.context.with(this.#api.trace.setSpan(this.#api.context.active(), span), work);
    } finally {
      close();
      span.end();
    }
  }

  async effect<T>({ effect, attempt, ...of }: TracedEffect, work: () => Promise<T>): Promise<T> {
    const attributes = { ...about(of), 'fencepost.attempt': attempt, 'fencepost.effect': effect };
    const span = this.#start('fencepost.effect', { attributes });
    if (!span) return work();
    try {
      const ended = await this.#api.context.with(this.#api.trace.setSpan(this.#api.context.active(), span), work);
      const { outcome, error } = readEnd(ended);
      end(span, outcome, error);
      return ended;
    } catch (error) {
      end(span, 'failed', error);
      throw error;
    }
  }

  /** `null` without a recording span, so that nothing is built in vain. */
  #start(name: string, options: SpanOptions, parent: Context = this.#api.context.active()): Span | null {
    const span = this.#tracer.startSpan(name, options, parent);
    return this.#api.isSpanContextValid(span.spanContext()) ? span : null;
  }

  #carrierOf(of: Context): TraceCarrier {
    return this.bullmq.contextManager.getMetadata(of);
  }
}

interface About {
  readonly cron: string;
  readonly runId?: string;
  readonly fence?: number;
}

/** Fences as texts: most tracing stores would round numbers of their size. */
function about({ cron, runId, fence }: About): Attributes {
  return {
    'fencepost.cron': cron,
    ...(runId === undefined ? {} : { 'fencepost.run_id': runId }),
    ...(fence === undefined ? {} : { 'fencepost.fence': String(fence) }),
  };
}

/** `SpanStatusCode.ERROR`. */
const ERROR = 2;

function end(span: Span, outcome: string, error?: unknown): void {
  span.setAttribute('fencepost.outcome', outcome);
  if (error !== undefined) span.setStatus({ code: ERROR, message: describeError(error) });
  span.end();
}

const ENDS: Readonly<Record<string, string>> = { returned: 'done', failed: 'failed', silent: 'unknown' };

/** Reads the outcome from the result of an effect call; any other value means that it has happened. */
function readEnd(ended: unknown): { readonly outcome: string; readonly error?: unknown } {
  const { kind, error } = Object(ended) as { readonly kind?: unknown; readonly error?: unknown };
  const outcome = typeof kind === 'string' ? ENDS[kind] : undefined;
  return { outcome: outcome ?? 'done', ...(error === undefined ? {} : { error }) };
}

type OfAttempt = Pick<Events['attempt.refused'], 'runId' | 'fence'>;
type AttemptEvent = { [N in EventName]: Events[N] extends OfAttempt ? N : never }[EventName];
type Marks = { readonly [N in AttemptEvent]?: (span: Span, detail: Events[N]) => void };

/** What the events of an attempt add to its span: only they know how it ended. */
const MARKS: Marks = {
  'attempt.succeeded': (span) => setOutcome(span, 'succeeded'),
  'attempt.failed': (span, { retryInMs, err }) => setOutcome(span, retryInMs === null ? 'failed' : 'retried', err),
  'attempt.cancelled': (span, { err }) => setOutcome(span, 'cancelled', err),
  'attempt.uncertain': (span) => setOutcome(span, 'uncertain', 'outcome of an effect is unknown'),
  'attempt.refused': (span, { step }) =>
    setOutcome(span, 'refused', `the ledger refused this attempt at its ${step}: it is stale, another one goes on`),
  'attempt.aborted': (span, { cause }) => span.addEvent('aborted', { 'fencepost.cause': describeError(cause) }),
  'effect.known': noted('effect known'),
  'effect.late': noted('effect late'),
  'effect.unknown': noted('effect unknown'),
};

/** The spans of the attempts in progress in this process. */
class AttemptSpans {
  readonly #open = new Map<string, Span>();
  #stop: (() => void) | null = null;

  constructor(private readonly telemetry: Telemetry) {}

  /** @returns a function that closes it */
  open(attempt: OfAttempt, span: Span): () => void {
    // Only once there is a recording span: a listener makes every event cost something.
    this.#stop ??= this.telemetry.listen(this.#hear);
    const key = keyOf(attempt);
    this.#open.set(key, span);
    return () => {
      this.#open.delete(key);
      if (this.#open.size > 0) return;
      this.#stop?.();
      this.#stop = null;
    };
  }

  readonly #hear: EventListener = (name, detail) => {
    const mark = MARKS[name as AttemptEvent] as ((span: Span, detail: unknown) => void) | undefined;
    if (!mark) return;
    const span = this.#open.get(keyOf(detail as unknown as OfAttempt));
    if (span) mark(span, detail);
  };
}

/** A run may have two attempts in one process, with different fences. */
function keyOf({ runId, fence }: OfAttempt): string {
  return `${runId} ${fence}`;
}

function setOutcome(span: Span, value: string, error?: Error | string): void {
  span.setAttribute('fencepost.outcome', value);
  if (error !== undefined) span.setStatus({ code: ERROR, message: describeError(error) });
}

function noted(name: string) {
  return (span: Span, { effect }: { readonly effect: string }) =>
    void span.addEvent(name, { 'fencepost.effect': effect });
}
