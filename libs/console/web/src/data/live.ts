import { signal } from '@preact/signals';
import { BASE } from './base.js';
import type { JournalEntry } from './types.js';

/** `blind`: the scheduler is there, and its store does not answer it. */
export type LiveState = 'off' | 'connecting' | 'live' | 'blind' | 'reconnecting';

/** `null` stands for "anything may have happened": the connection was away for a while, or somebody here did it. */
export type LiveListener = (entry: JournalEntry | null) => void;

const RETRY_MS = 5_000;
/** The scheduler sends two heartbeats a second; a reader is to know within two. */
const SILENT_MS = 1_600;

export const liveState = signal<LiveState>('off');
const listeners = new Set<LiveListener>();
let source: EventSource | null = null;
let refused = () => {};
let retry: ReturnType<typeof setTimeout> | undefined;
let silence: ReturnType<typeof setTimeout> | undefined;

export function listenLive(listener: LiveListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param onRefused is called when an answer is no stream: the session may have ended */
export function connect(onRefused = refused): void {
  refused = onRefused;
  if (source) return;
  if (liveState.value === 'off') liveState.value = 'connecting';
  source = new EventSource(`${BASE}/api/events`);
  source.addEventListener('error', failed);
  source.addEventListener('heartbeat', ({ data }: MessageEvent<string>) => beaten(data));
  source.addEventListener('journal', ({ data }: MessageEvent<string>) => tell(parsed(data)));
}

export function disconnect(): void {
  close();
  liveState.value = 'off';
}

function close(): void {
  clearTimeout(retry);
  clearTimeout(silence);
  source?.close();
  source = null;
}

/** A browser keeps six connections to a server open, over all of its pages: those that nobody sees give theirs back. */
document.addEventListener('visibilitychange', () => {
  if (liveState.value === 'off') return;
  if (document.visibilityState === 'visible') return connect();
  close();
  liveState.value = 'reconnecting';
});

/** This page has changed something itself: what people do is no event, and all that is shown may be older now. */
export function askAgain(): void {
  tell(null);
}

/** The one thing that shows that the scheduler and its store are there: an open connection may lead nowhere. */
function beaten(data: string): void {
  clearTimeout(silence);
  silence = setTimeout(() => (liveState.value = 'reconnecting'), SILENT_MS);
  const { storeAnswers } = (parsed(data) ?? {}) as { readonly storeAnswers?: boolean | null };
  if (storeAnswers === null) return;
  const before = liveState.value;
  liveState.value = storeAnswers === false ? 'blind' : 'live';
  const isBack = liveState.value === 'live' && (before === 'blind' || before === 'reconnecting');
  // What is shown is asked for anew when it is back, and says how old it is when it is away.
  if (isBack || (liveState.value === 'blind' && before === 'live')) tell(null);
}

/** A browser connects again by itself, but not after an answer such as 503: then it is on us. */
function failed(): void {
  clearTimeout(silence);
  liveState.value = 'reconnecting';
  if (source?.readyState !== EventSource.CLOSED) return;
  source = null;
  refused();
  retry = setTimeout(connect, RETRY_MS);
}

function tell(entry: JournalEntry | null): void {
  for (const listener of listeners) listener(entry);
}

function parsed(data: string): JournalEntry | null {
  try {
    return JSON.parse(data) as JournalEntry;
  } catch {
    return null;
  }
}
