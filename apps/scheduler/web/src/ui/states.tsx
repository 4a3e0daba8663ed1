import type { ComponentChildren } from 'preact';
import { ApiError } from '../data/client.js';
import type { Resource } from '../data/resource.js';

interface ShownProps<Data> {
  readonly of: Resource<Data>;
  readonly what: string;
  readonly children: (data: Data) => ComponentChildren;
}

/** What came, with a word above it when it could not be brought up to date; or why nothing came, and what to do. */
export function Shown<Data>({ of: { data, error, reload }, what, children }: ShownProps<Data>) {
  if (data === null) return error === null ? <Loading what={what} /> : <Failure {...{ error, reload, what }} />;
  return (
    <>
      {error === null ? null : <Stale error={error} />}
      {children(data)}
    </>
  );
}

function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  );
}

function Stale({ error }: { readonly error: unknown }) {
  return (
    <p class="notice warn" role="status">
      <strong>This is not up to date.</strong> {adviceFor(error).text}
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
  if (status === 403) return { title: 'You may not see this', text: FORBIDDEN };
  if (status === 404) return { title: `There is no such thing as ${what}`, text: UNKNOWN };
  if (status === 429) return { title: 'Too many questions', text: 'Wait a moment: it is tried again by itself.' };
  if (status >= 500) return { title: 'The store does not answer', text: STORE };
  return { title: `Could not read ${what}`, text: error instanceof Error ? error.message : String(error) };
}

const AWAY =
  'No scheduler pod could be reached from here. Crons go on without this page. It is tried again every few seconds; if that does not help, see whether the scheduler pods run.';
const STORE =
  'The scheduler is there, but its store is away or slow. No cron fires without it. Check Redis or PostgreSQL, then ask "fencepost doctor"; it is tried again every few seconds.';
const FORBIDDEN = 'Your token has a lower role than this needs. Ask an admin for one with "fencepost token".';
const UNKNOWN = 'It may have been renamed, or its record may have expired. Look for it in the list of crons.';
