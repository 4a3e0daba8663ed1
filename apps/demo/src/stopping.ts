import { systemClock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const POLL_MS = 500;

export interface Stopping {
  readonly inOrder: AbortSignal;
  /** Aborts at the second request, or when the parent is gone: after `kill -9` of `npm start` nobody could press Ctrl-C. */
  readonly atOnce: AbortSignal;
  close(): void;
}

/** @param withParent whether the parent is the script that started us, and not a shell, which may end before us */
export function listenForStop(withParent: boolean): Stopping {
  const [inOrder, atOnce, parent] = [new AbortController(), new AbortController(), process.ppid];
  const request = () => (inOrder.signal.aborted ? atOnce : inOrder).abort();
  for (const signal of SIGNALS) process.on(signal, request);
  // The reader of our output is gone, as after `head`.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', request);
  let cancel: CancelTimer | undefined;
  const watchParent = () => {
    cancel = systemClock.after(POLL_MS, watchParent);
    if (process.ppid === parent) return;
    for (const controller of [inOrder, atOnce]) controller.abort();
  };
  if (withParent) watchParent();
  const close = () => {
    cancel?.();
    for (const signal of SIGNALS) process.off(signal, request);
  };
  return { inOrder: inOrder.signal, atOnce: atOnce.signal, close };
}
