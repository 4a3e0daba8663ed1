import { useEffect, useRef, useState } from 'preact/hooks';
import { WORDS } from '../words.js';

/** The rows that fit stand there a tenth of a second after a key; the keys of one that is held down are one change. */
const PAUSE_IN_TYPING_MS = 25;

interface SearchProps {
  /** Default: Search. */
  readonly label?: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What is meant by what is typed; default: that. */
  readonly meaning?: (typed: string) => string;
  /** The key that leads here from anywhere on the page. */
  readonly opensWith?: string;
}

const asTyped = (typed: string) => typed;

/** Tells what was typed when nothing was for a moment. */
export function SearchField({ label = WORDS.list.search, placeholder, value, onChange, ...more }: SearchProps) {
  const { meaning = asTyped, opensWith } = more;
  const [typed, setTyped] = useState(value);
  const told = useRef<readonly string[]>([]);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // What comes back of what was told is older than what has been typed since.
    const at = told.current.indexOf(value);
    told.current = at < 0 ? [] : told.current.slice(at + 1);
    if (at < 0) setTyped(value);
  }, [value]);
  useEffect(() => {
    if (meaning(typed) === value) return;
    const timer = setTimeout(() => {
      told.current = [...told.current, meaning(typed)];
      onChange(meaning(typed));
    }, PAUSE_IN_TYPING_MS);
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

/** For the one tag that a list is about. */
export function TagField({ value, onChange }: Pick<SearchProps, 'value' | 'onChange'>) {
  const { heads, list } = WORDS;
  return (
    <SearchField
      {...{ label: heads.tag, placeholder: list.anyTag, value, onChange }}
      meaning={(typed) => typed.trim().toLowerCase()}
    />
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
