import type { LeaseObserver } from '@fencepost/lease';

export interface RecordedWarnings {
  readonly observe: LeaseObserver;
  /** The codes, in the order in which they came. */
  readonly codes: readonly string[];
  readonly messages: readonly string[];
}

/** Hears what a connection warns of. */
export function recordedWarnings(): RecordedWarnings {
  const codes: string[] = [];
  const messages: string[] = [];
  const observe: LeaseObserver = (event) => {
    if (event.name !== 'store.warning') return;
    codes.push(event.code);
    messages.push(event.message);
  };
  return { observe, codes, messages };
}
