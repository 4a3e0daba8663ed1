import { WORDS } from '../words.js';

interface SearchProps {
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function SearchField({ placeholder, value, onChange }: SearchProps) {
  return (
    <label class="field inline">
      <span>{WORDS.list.search}</span>
      <input
        type="search"
        placeholder={placeholder}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
