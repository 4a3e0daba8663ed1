import { signal, useSignalEffect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { liveState } from '../data/live.js';

/** Why parts of the page could not be brought up to date, by part. */
const errors = signal<ReadonlyMap<symbol, unknown>>(new Map());

/** Notes for as long as a part is shown why it is old; `null`: it is not. */
export function useStale(error: unknown): void {
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
export function useStaleError(): unknown {
  const [error, setError] = useState<unknown>(null);
  useSignalEffect(() => setError([...errors.value.values()][0] ?? null));
  return error;
}

/** Whether the scheduler says that its store does not answer. */
export function useBlind(): boolean {
  const [isBlind, setBlind] = useState(false);
  useSignalEffect(() => setBlind(liveState.value === 'blind'));
  return isBlind;
}
