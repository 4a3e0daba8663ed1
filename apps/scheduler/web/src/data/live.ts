import { signal } from '@preact/signals';
import type { JournalEntry } from './types.js';

export type LiveState = 'off' | 'connecting' | 'live' | 'reconnecting';

/** `null` stands for "anything may have happened": the connection was away for a while, or somebody here did it. */
export type LiveListener = (entry: JournalEntry | null) => void;

const RETRY_MS = 5_000;

export const liveState = signal<LiveState>('off');
const listeners = new Set<LiveListener>();
let source: EventSource | null = null;
let retry: ReturnType<typeof setTimeout> | undefined;

export function listenLive(listener: LiveListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function connect(): void {
  if (source) return;
  if (liveState.value === 'off') liveState.value = 'connecting';
  source = new EventSource('/api/events');
  source.addEventListener('open', opened);
  source.addEventListener('error', failed);
  source.addEventListener('journal', ({ data }: MessageEvent<string>) => tell(parsed(data)));
}

export function disconnect(): void {
  clearTimeout(retry);
  source?.close();
  source = null;
  liveState.value = 'off';
}

/** This page has changed something itself: what people do is no event, and all that is shown may be older now. */
export function askAgain(): void {
  tell(null);
}

function opened(): void {
  const wasAway = liveState.value === 'reconnecting';
  liveState.value = 'live';
  if (wasAway) tell(null);
}

/** A browser connects again by itself, but not after an answer such as 503: then it is on us. */
function failed(): void {
  liveState.value = 'reconnecting';
  if (source?.readyState !== EventSource.CLOSED) return;
  source = null;
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
