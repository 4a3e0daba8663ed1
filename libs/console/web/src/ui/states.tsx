import type { ComponentChildren } from 'preact';
import { ApiError } from '../data/client.js';
import type { Resource } from '../data/resource.js';
import { signal, useSignalEffect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { liveState } from '../data/live.js';

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

/** Whether the scheduler says that its store does not answer. */
function useBlind(): boolean {
  const [isBlind, setBlind] = useState(false);
  useSignalEffect(() => setBlind(liveState.value === 'blind'));
  return isBlind;
}

interface ShownProps<Data> {
  readonly of: Resource<Data>;
  readonly what: string;
  readonly children: (data: Data) => ComponentChildren;
}

/** What came, dimmed and with its time when it could not be brought up to date; or why nothing came, and what to do. */
export function Shown<Data>({ of: { data, error, at, reload }, what, children }: ShownProps<Data>) {
  const blind = useBlind();
  useStale(data === null ? null : error);
  if (data === null) return error === null ? <Loading what={what} /> : <Failure {...{ error, reload, what }} />;
  if (error === null && !blind) return <>{children(data)}</>;
  return (
    <div class="stale">
      <p class="as-of quiet">as of {new Date(at).toLocaleTimeString('en-GB')}</p>
      {children(data)}
    </div>
  );
}

function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  );
}

/** Once on a page, however many of its parts could not be brought up to date. */
export function StaleNotice() {
  const error = useStaleError();
  const blind = useBlind();
  if (error === null && !blind) return null;
  const { text } = error === null ? { text: STORE } : adviceFor(error);
  return (
    <p class="notice warn" role="status">
      <strong>This is out of date.</strong> {text}
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
        Try again
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
function adviceFor(error: unknown, what = 'this'): { readonly title: string; readonly text: string } {
  const status = error instanceof ApiError ? error.status : -1;
  if (status === 0) return { title: 'The scheduler does not answer', text: AWAY };
  if (status === 403) return { title: 'Access denied', text: FORBIDDEN };
  if (status === 404) return { title: `${what} does not exist`, text: UNKNOWN };
  const isBusy = error instanceof ApiError && error.code === 'BUSY';
  if (status === 429 || isBusy) return { title: 'Too many requests', text: 'Retrying automatically in a moment.' };
  if (status === 500) return { title: 'The scheduler could not answer', text: FAILED };
  if (status > 500) return { title: 'The store not responding', text: STORE };
  return { title: `Could not read ${what}`, text: error instanceof Error ? error.message : String(error) };
}

const AWAY =
  'No scheduler pod is reachable, so the state of the crons is unknown. Retrying every few seconds; if this lasts, check that scheduler pods are running.';
const STORE =
  'The scheduler is reachable, but its store did not answer in time. No cron fires during the outage. Check Redis and PostgreSQL, then run "fencepost doctor". Retrying every few seconds.';
const FAILED = 'The log of the scheduler pod has the reason. Retrying every few seconds.';
const FORBIDDEN = 'This needs a higher role than that of your token. Ask an admin for another token.';
const UNKNOWN = 'It may have been renamed, or its record may have expired. Check the list of crons.';
