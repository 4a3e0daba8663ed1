import { context, isSpanContextValid, propagation, trace } from '@opentelemetry/api';
import type { Context, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';

const FIELD = 'traceparent';

/** What every SDK takes along between processes (W3C Trace Context, version 00), as far as a test needs it. */
const TRACE_PARENT: TextMapPropagator = {
  inject(of: Context, delivery: unknown, setter: TextMapSetter): void {
    const span = trace.getSpanContext(of);
    if (!span || !isSpanContextValid(span)) return;
    setter.set(delivery, FIELD, `00-${span.traceId}-${span.spanId}-0${span.traceFlags & 1}`);
  },
  extract(of: Context, delivery: unknown, getter: TextMapGetter): Context {
    const text = getter.get(delivery, FIELD);
    const [, traceId, spanId, flags] = /^00-([\da-f]{32})-([\da-f]{16})-0([01])$/.exec(String(text)) ?? [];
    if (traceId === undefined || spanId === undefined) return of;
    return trace.setSpanContext(of, { traceId, spanId, traceFlags: Number(flags), isRemote: true });
  },
  fields: () => [FIELD],
};

/**
 * Registers an SDK in this process, as an application does that is traced.
 * @returns a function that takes it out again
 */
export function recordSpans(exporter: SpanExporter): () => void {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(TRACE_PARENT);
  return () => {
    for (const api of [trace, context, propagation]) api.disable();
  };
}
