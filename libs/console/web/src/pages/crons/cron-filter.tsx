import { Choice } from '../../ui/fields.js';
import { SearchField, TagField } from '../../ui/search-field.js';
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
      <SearchField
        {...{ placeholder: words.searchIn, value: view.search, opensWith: '/' }}
        onChange={(search) => change({ search })}
      />
      <Choice
        label={WORDS.heads.state}
        value={view.state}
        options={words.states}
        onChange={(state) => change({ state })}
      />
      <TagField value={view.tag} onChange={(tag) => change({ tag })} />
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
