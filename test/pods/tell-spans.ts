import { writeSync } from 'node:fs';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { recordSpans } from './recorded-spans.js';

/** Loaded into a pod by `node --import`: each span of it is a line of its output. */
const onStdout: SpanExporter = {
  export(spans, done) {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext();
      const parent = span.parentSpanContext?.spanId ?? null;
      const { name, attributes } = span;
      writeSync(1, `${JSON.stringify({ event: 'span', name, traceId, spanId, parent, attributes })}\n`);
    }
    done({ code: 0 });
  },
  shutdown: async () => {},
};

recordSpans(onStdout);
