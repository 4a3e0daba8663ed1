import type { ComponentChildren } from 'preact';
import { ApiError } from '../data/client.js';
import type { Resource } from '../data/resource.js';
import { signal, useSignalEffect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { liveState } from '../data/live.js';
import { WORDS } from '../words.js';

const { states: words } = WORDS;

/** Why parts of the page could not be brought up to date, by part. */
const errors = signal<ReadonlyMap<symbol, unknown>>(new Map());

/** Notes for as long as a part is shown why it is old; `null`: it is not. */
function useStale(error: unknown): void {
  useEffect(() => {
    if (error === null) return;
    const part = Symbol('part');
    errors.value = new Map(errors.value).set(part, error);
    return () => {
      const left = new Map(errors.value);
      left.delete(part);
      errors.value = left;
    };
  }, [error]);
}

/** Why anything on the page is old; `null`: nothing is. */
function useStaleError(): unknown {
  const [error, setError] = useState<unknown>(null);
  useSignalEffect(() => setError([...errors.value.values()][0] ?? null));
  return error;
}

/** Why nothing new is heard: the scheduler says that its store does not answer, or says nothing itself; `null`: it is heard. */
function useAway(): 'blind' | 'reconnecting' | null {
  const [state, setState] = useState(liveState.peek());
  useSignalEffect(() => setState(liveState.value));
  return state === 'blind' || state === 'reconnecting' ? state : null;
}

interface ShownProps<Data> {
  readonly of: Resource<Data>;
  readonly what: string;
  readonly children: (data: Data, isOld: boolean) => ComponentChildren;
}

/** What came, dimmed and with its time when it could not be brought up to date; or why nothing came, and what to do. */
export function Shown<Data>({ of: { data, error, at, isSlow, reload }, what, children }: ShownProps<Data>) {
  const away = useAway();
  useStale(data === null ? null : error);
  if (data === null)
    return error === null ? <Loading {...{ what, isSlow }} /> : <Failure {...{ error, reload, what }} />;
  const isOld = error !== null || away !== null;
  // One tree for all: what somebody has begun to type must outlive an answer that is late.
  return (
    <div class={isOld ? 'stale' : ''}>
      {isOld || isSlow ? <p class="as-of quiet">{words.asOf(at, isSlow && !isOld)}</p> : null}
      {children(data, isOld)}
    </div>
  );
}

function Loading({ what, isSlow }: { readonly what: string; readonly isSlow: boolean }) {
  return (
    <p class="loading" role="status">
      {isSlow ? words.slow(what) : words.loading(what)}
    </p>
  );
}

/** Once on a page, however many of its parts could not be brought up to date. */
export function StaleNotice() {
  const error = useStaleError();
  const away = useAway();
  if (error === null && away === null) return null;
  const text = error === null ? (away === 'blind' ? words.store.text : words.lost) : adviceFor(error).text;
  return (
    <p class="notice warn" role="status">
      <strong>{words.outOfDate}</strong> {text}
    </p>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly what: string;
  readonly reload: () => void;
}

export function Failure({ error, what, reload }: FailureProps) {
  const { title, text } = adviceFor(error, what);
  return (
    <div class="empty" role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      {error instanceof ApiError && error.status > 0 ? <p class="quiet">{error.message}</p> : null}
      <button type="button" onClick={reload}>
        {words.again}
      </button>
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

/** What happened in the reader's words, and what to do about it. */
function adviceFor(error: unknown, what: string = words.thisPart): { readonly title: string; readonly text: string } {
  const status = error instanceof ApiError ? error.status : -1;
  if (status === 0) return words.away;
  if (status === 403) return words.forbidden;
  if (status === 404) return { title: words.unknown(what), text: words.unknownText };
  const isBusy = error instanceof ApiError && error.code === 'BUSY';
  if (status === 429 || isBusy) return words.busy;
  if (status === 500) return words.failed;
  if (status > 500) return words.store;
  return { title: words.unread(what), text: error instanceof Error ? error.message : String(error) };
}
