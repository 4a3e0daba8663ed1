import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Choice, Field, fieldOf, InstantField, isInstantField, isoOf } from '../../ui/fields.js';
import { WORDS } from '../../words.js';
import { STATES, withFilter, type FilterName, type RunFilter } from './run-filter.js';

const { runs: words } = WORDS;
const OPTIONS = [['', words.any], ...STATES.map((state) => [state, state] as const)] as const;

/** The address of the page is its filter: it can be sent to somebody. */
export function FilterForm({ filter }: { readonly filter: RunFilter }) {
  const [, go] = useLocation();
  const set = (change: Partial<RunFilter>) => go(withFilter(filter, change), { replace: true });
  const text = (name: FilterName, label: string) => (
    <Text {...{ label }} value={filter[name]} onChange={(value) => set({ [name]: value })} />
  );
  const several = filter.state.includes(',') ? [[filter.state, filter.state] as const] : [];
  return (
    <form
      class="filter run-filter"
      role="search"
      aria-label={words.filters}
      onSubmit={(event) => event.preventDefault()}
    >
      <Choice
        label={WORDS.heads.state}
        value={filter.state}
        options={[...OPTIONS, ...several]}
        onChange={(state) => set({ state })}
      />
      {text('cron', WORDS.heads.cron)}
      {text('tag', WORDS.heads.tag)}
      {text('error', words.error)}
      {text('worker', WORDS.heads.worker)}
      {text('seconds', `${words.minSeconds} (${words.seconds})`)}
      {text('attempts', words.minAttempts)}
      <Time label={words.from} value={filter.from} onChange={(from) => set({ from })} />
      <Time label={words.to} value={filter.to} onChange={(before) => set({ to: before })} />
      <button type="button" onClick={() => go('/runs', { replace: true })}>
        {words.clear}
      </button>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Asked for when it is left or entered, and not at each letter: a search reads many runs. */
function Text({ label, value, onChange }: FieldProps) {
  return (
    <Field label={label}>
      <input type="search" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </Field>
  );
}

/** Sent when it is an instant, or empty: what is half written stays in the field. */
function Time({ label, value, onChange }: FieldProps) {
  const [field, setField] = useState(() =>
    Number.isNaN(Date.parse(value)) ? '' : fieldOf(new Date(value).toISOString()),
  );
  useEffect(() => {
    if (value === '') setField('');
  }, [value]);
  const write = (text: string) => {
    setField(text);
    if (text === '') onChange('');
    else if (isInstantField(text)) onChange(isoOf(text));
  };
  return <InstantField label={label} hint={words.utc} value={field} onChange={write} />;
}
