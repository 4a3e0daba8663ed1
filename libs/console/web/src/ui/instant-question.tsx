import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fieldOf, InstantField, isoOf } from './fields.js';

interface QuestionProps {
  readonly label: string;
  readonly verb: string;
  /** What is asked about now: an instant, or something else, which leaves the field as it is; `null`: nothing. */
  readonly at: string | null;
  readonly onAsk: (at: string) => void;
  /** Other ways to ask. */
  readonly children?: ComponentChildren;
}

/** Asks about one instant. */
export function InstantQuestion({ label, verb, at, onAsk, children }: QuestionProps) {
  const [value, setValue] = useState('');
  useEffect(() => {
    if (at === null) setValue('');
    else if (!Number.isNaN(Date.parse(at))) setValue(fieldOf(new Date(at).toISOString()));
  }, [at]);
  const submit = (event: Event) => {
    event.preventDefault();
    onAsk(isoOf(value));
  };
  return (
    <form class="ask" onSubmit={submit}>
      <InstantField label={label} value={value} onChange={setValue} required />
      <button type="submit">{verb}</button>
      {children}
    </form>
  );
}
