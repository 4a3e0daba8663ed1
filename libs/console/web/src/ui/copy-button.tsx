import { announce } from './announcer.js';
import { WORDS } from '../words.js';

interface CopyProps {
  readonly label: string;
  readonly text: () => string;
}

/** Copies a text; where the browser forbids it, shows it to be copied by hand. */
export function CopyButton({ label, text }: CopyProps) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      announce(WORDS.run.copied);
    } catch {
      announce(`${WORDS.run.notCopied} ${text()}`);
    }
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {label}
    </button>
  );
}
