import { useEffect, useRef, useState } from 'preact/hooks';
import { Choice } from '../../ui/fields.js';
import { WORDS } from '../../words.js';
import { SavedViews } from './saved-views.js';
import type { View } from './view.js';

const { home: words } = WORDS;

interface FilterProps {
  readonly view: View;
  readonly change: (part: Partial<View>) => void;
}

export function CronFilter({ view, change }: FilterProps) {
  return (
    <form class="filter" role="search" onSubmit={(event) => event.preventDefault()}>
      <TypedField
        {...{ label: words.search, placeholder: words.searchIn, value: view.search, key: 'search', opensWith: '/' }}
        onChange={(search) => change({ search })}
      />
      <Choice label={words.state} value={view.state} options={words.states} onChange={(state) => change({ state })} />
      <TypedField
        {...{ label: words.tag, placeholder: words.anyTag, value: view.tag }}
        onChange={(tag) => change({ tag: tag.trim().toLowerCase() })}
      />
      <Choice
        label={words.failing}
        value={view.failing}
        options={words.failingFor}
        onChange={(failing) => change({ failing })}
      />
      {view.holder === '' ? null : (
        <button type="button" onClick={() => change({ holder: '' })}>
          {words.holder(view.holder)} ✕
        </button>
      )}
      <SavedViews view={view} change={change} />
    </form>
  );
}

/** The rows that fit stand there a tenth of a second after a key; the keys of one that is held down are one change. */
const PAUSE_IN_TYPING_MS = 25;

interface TypedProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The key that leads here from anywhere on the page. */
  readonly opensWith?: string;
}

function TypedField({ label, placeholder, value, onChange, opensWith }: TypedProps) {
  const [typed, setTyped] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), PAUSE_IN_TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => (opensWith === undefined ? undefined : focusWith(opensWith, field)), [opensWith]);
  return (
    <label class="field inline">
      <span>{label}</span>
      <input
        ref={field}
        type="search"
        placeholder={placeholder}
        aria-keyshortcuts={opensWith}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}

/** Unless somebody types into another field. */
function focusWith(key: string, field: { readonly current: HTMLInputElement | null }): () => void {
  const pressed = (event: KeyboardEvent) => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input, select, textarea, dialog') !== null;
    if (event.key !== key || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.current?.focus();
  };
  document.addEventListener('keydown', pressed);
  return () => document.removeEventListener('keydown', pressed);
}
