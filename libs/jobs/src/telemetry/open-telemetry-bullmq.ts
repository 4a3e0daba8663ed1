import { ROOT_CONTEXT, SpanKind, type Context } from '@opentelemetry/api';
import { BullMQOtel } from 'bullmq-otel';

/** Stands in for what nobody wants to see. */
const NO_SPAN = {
  setSpanOnContext: (context: Context) => context,
  setAttribute: () => {},
  setAttributes: () => {},
  addEvent: () => {},
  recordException: () => {},
  end: () => {},
};

/** What BullMQ takes as its `telemetry`, and this library uses of it. */
export interface BullmqTelemetry {
  readonly tracer: Pick<BullMQOtel['tracer'], 'startSpan'>;
  readonly contextManager: BullMQOtel['contextManager'] & { root(): Context };
}

/**
 * BullMQ's own tracing, of which only the spans around jobs are left. It also has one for every look for a job and every
 * check for stalled ones: a worker that has nothing to do would fill a tracing store with that.
 */
export function bullmqTelemetry(tracerName: string): BullmqTelemetry {
  const otel = new BullMQOtel({ tracerName, enableMetrics: false });
  const { tracer: own } = otel;
  const startSpan: typeof own.startSpan = (name, options, context) =>
    options?.kind === (SpanKind.CONSUMER as number) ? own.startSpan(name, options, context) : NO_SPAN;
  // A loop that is started from within a span must not stay in it.
  const contextManager = Object.assign(otel.contextManager, { root: () => ROOT_CONTEXT });
  return { tracer: { startSpan }, contextManager };
}
