import { SpanStatusCode, type Span } from '@opentelemetry/api';
import { describeError } from './report-failure.js';
import type { EventName, Events } from './events.js';
import type { EventListener, Telemetry } from './telemetry.js';

type OfAttempt = Pick<Events['attempt.refused'], 'runId' | 'fence'>;
type AttemptEvent = { [N in EventName]: Events[N] extends OfAttempt ? N : never }[EventName];
type Marks = { readonly [N in AttemptEvent]?: (span: Span, detail: Events[N]) => void };

/** What the events of an attempt add to its span: only they know how it ended. */
const MARKS: Marks = {
  'attempt.succeeded': (span) => outcome(span, 'succeeded'),
  'attempt.failed': (span, { retryInMs, err }) => outcome(span, retryInMs === null ? 'failed' : 'retried', err),
  'attempt.cancelled': (span, { err }) => outcome(span, 'cancelled', err),
  'attempt.uncertain': (span) => outcome(span, 'uncertain', 'outcome of an effect is unknown'),
  'attempt.refused': (span, { step }) =>
    outcome(span, 'refused', `the ledger refused this attempt at its ${step}: it is stale, another one goes on`),
  'attempt.aborted': (span, { cause }) => span.addEvent('aborted', { 'fencepost.cause': describeError(cause) }),
  'effect.known': noted('effect known'),
  'effect.late': noted('effect late'),
  'effect.unknown': noted('effect unknown'),
};

/** The spans of the attempts in progress in this process. */
export class AttemptSpans {
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

function outcome(span: Span, value: string, error?: Error | string): void {
  span.setAttribute('fencepost.outcome', value);
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: describeError(error) });
}

function noted(name: string) {
  return (span: Span, { effect }: { readonly effect: string }) =>
    void span.addEvent(name, { 'fencepost.effect': effect });
}
