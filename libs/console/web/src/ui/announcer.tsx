import { signal } from '@preact/signals';

const message = signal<{ readonly text: string; readonly n: number } | null>(null);
const SHOWN_MS = 8_000;
let hide: ReturnType<typeof setTimeout> | undefined;

/** Says what was done, for eyes and for screen readers. */
export function announce(text: string): void {
  message.value = { text, n: (message.value?.n ?? 0) + 1 };
  clearTimeout(hide);
  hide = setTimeout(() => (message.value = null), SHOWN_MS);
}

export function Announcer() {
  const current = message.value;
  return (
    <div class="announcer" role="status" aria-live="polite">
      {current ? <p key={current.n}>{current.text}</p> : null}
    </div>
  );
}
