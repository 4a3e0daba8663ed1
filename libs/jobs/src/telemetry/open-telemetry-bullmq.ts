import { ROOT_CONTEXT, SpanKind, type Context } from '@opentelemetry/api';
import { BullMQOtel } from 'bullmq-otel';

/** Replaces spans that are not wanted. */
const NO_SPAN = {
  setSpanOnContext: (context: Context) => context,
  setAttribute: () => {},
  setAttributes: () => {},
  addEvent: () => {},
  recordException: () => {},
  end: () => {},
};

/** The part of the `telemetry` interface of BullMQ that is used. */
export interface BullmqTelemetry {
  readonly tracer: Pick<BullMQOtel['tracer'], 'startSpan'>;
  readonly contextManager: BullMQOtel['contextManager'] & { root(): Context };
}

/**
 * The tracing of BullMQ, reduced to the spans around jobs. It also has a span for every fetch and every
 * stalled check: an idle worker would fill a tracing store with these.
 */
export function bullmqTelemetry(tracerName: string): BullmqTelemetry {
  const otel = new BullMQOtel({ tracerName, enableMetrics: false });
  const { tracer: own } = otel;
  const startSpan: typeof own.startSpan = (name, options, context) =>
    options?.kind === (SpanKind.CONSUMER as number) ? own.startSpan(name, options, context) : NO_SPAN;
  // A loop that is started inside a span must not stay in it.
  const contextManager = Object.assign(otel.contextManager, { root: () => ROOT_CONTEXT });
  return { tracer: { startSpan }, contextManager };
}
