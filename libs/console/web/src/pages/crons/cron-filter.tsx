import { useEffect, useState } from 'preact/hooks';
import type { Pod } from '../../data/types.js';
import { Choice } from '../../ui/fields.js';

export interface Filter {
  readonly search: string;
  readonly state: string;
  readonly holder: string;
  readonly cursor: string;
}

interface FilterProps {
  readonly filter: Filter;
  readonly setFilter: (change: Partial<Filter>) => void;
  readonly pods: readonly Pod[];
}

const STATES = [
  ['', 'any state'],
  ['active', 'active'],
  ['paused', 'paused'],
  ['disabled', 'disabled'],
  ['removed', 'removed'],
  ['uncertain', 'with uncertain runs'],
  ['unheld', 'without a holder'],
] as const;

export function CronFilter({ filter, setFilter, pods }: FilterProps) {
  const holders = pods.filter(({ roles }) => roles.includes('scheduler')).map(({ pod }) => [pod, pod] as const);
  return (
    <form class="filter" role="search" onSubmit={(event) => event.preventDefault()}>
      <SearchField value={filter.search} onChange={(search) => setFilter({ search })} />
      <Choice label="State" value={filter.state} options={STATES} onChange={(state) => setFilter({ state })} />
      <Choice
        label="Holder"
        value={filter.holder}
        options={[['', 'any pod'], ...holders]}
        onChange={(holder) => setFilter({ holder })}
      />
    </form>
  );
}

const PAUSE_IN_TYPING_MS = 250;

interface SearchProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function SearchField({ value, onChange }: SearchProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), PAUSE_IN_TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label class="field inline grow">
      <span>Search</span>
      <input
        type="search"
        placeholder="Name or expression"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}
