import { signal } from '@preact/signals';

/** Epoch milliseconds of the store, as far as this machine can tell; moves once a second. */
export const now = signal(Date.now());
let offsetMs = 0;

/** What the store's clock said a moment ago: a reader's clock that is off must not make a lease look expired. */
export function setStoreClock(iso: string): void {
  offsetMs = new Date(iso).getTime() - Date.now();
}

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now() + offsetMs;
}, 1_000);
