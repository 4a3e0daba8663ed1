import type { ComponentChildren } from 'preact';
import { useState, useEffect, useId, useRef } from 'preact/hooks';
import { askAgain } from '../data/live.js';
import { WORDS } from '../words.js';
import { announce } from './announcer.js';
import { Field } from './fields.js';

const { order: words } = WORDS;

export interface OrderProps {
  readonly title: string;
  /** What will happen, in a sentence or two. */
  readonly text: ComponentChildren;
  readonly verb: string;
  readonly danger?: boolean;
  /** Fields beside the reason. */
  readonly children?: ComponentChildren;
  /** @returns what was done, as a sentence */
  readonly execute: (reason: string) => Promise<string>;
  readonly onClose: () => void;
}

/** Asks whether it is meant, and why; says what came of it. */
export function Order({ title, text, verb, danger, children, execute, onClose }: OrderProps) {
  const [reason, setReason] = useState('');
  const { busy, error, submit } = useOrder(() => execute(reason.trim()), onClose);
  return (
    <Dialog title={title} onClose={onClose}>
      <form method="dialog" onSubmit={submit}>
        <div class="prose">{text}</div>
        {children}
        <ReasonField value={reason} onChange={setReason} />
        {error === null ? null : (
          <p class="notice bad" role="alert">
            {error}
          </p>
        )}
        <footer class="buttons">
          <button type="button" onClick={onClose}>
            {words.cancel}
          </button>
          <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy}>
            {busy ? words.busy : verb}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface ReasonProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ReasonField({ value, onChange }: ReasonProps) {
  return (
    <Field label={words.reason} hint={words.reasonHint}>
      <textarea
        name="reason"
        rows={2}
        required
        maxLength={1000}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}

function useOrder(work: () => Promise<string>, onClose: () => void) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const execute = async () => {
    setBusy(true);
    setError(null);
    try {
      announce(await work());
      askAgain();
      onClose();
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
      setBusy(false);
    }
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void execute();
  };
  return { busy, error, submit };
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The browser's own: Escape closes it, focus stays in it, and goes back to where it was. */
function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}
