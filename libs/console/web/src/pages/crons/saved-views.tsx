import { useState } from 'preact/hooks';
import { Choice } from '../../ui/fields.js';
import { remember, remembered } from '../../ui/remembered.js';
import { WORDS } from '../../words.js';
import { addressOf, viewIn, type View } from './view.js';

const { home: words } = WORDS;
const KEY = 'views';
const MAX_VIEWS = 20;

/** Addresses by the name that somebody gave them, in this browser. */
type Views = Readonly<Record<string, string>>;

function savedViews(): Views {
  try {
    const views: unknown = JSON.parse(remembered(KEY) ?? '{}');
    return typeof views === 'object' && views !== null ? (views as Views) : {};
  } catch {
    return {};
  }
}

interface SavedViewsProps {
  readonly view: View;
  readonly change: (part: Partial<View>) => void;
}

export function SavedViews({ view, change }: SavedViewsProps) {
  const [views, setViews] = useState(savedViews);
  const here = addressOf({ ...view, cursor: '' });
  const current = Object.entries(views).find(([, address]) => address === here)?.[0] ?? '';
  const keep = (changed: Views) => {
    remember(KEY, JSON.stringify(changed));
    setViews(changed);
  };
  const names = Object.keys(views).toSorted();
  const open = (name: string) => change(viewIn(views[name]?.slice(1) ?? ''));
  return (
    <>
      {names.length === 0 ? null : (
        <Choice
          label={words.view}
          value={current}
          options={[['', words.noView], ...names.map((name) => [name, name] as const)]}
          onChange={open}
        />
      )}
      {current === '' ? (
        here === '/' || names.length >= MAX_VIEWS ? null : (
          <SaveView onSave={(name) => keep({ ...views, [name]: here })} />
        )
      ) : (
        <button type="button" onClick={() => keep(without(views, current))}>
          {words.forgetView}
        </button>
      )}
    </>
  );
}

function without(views: Views, name: string): Views {
  return Object.fromEntries(Object.entries(views).filter(([key]) => key !== name));
}

function SaveView({ onSave }: { readonly onSave: (name: string) => void }) {
  const [name, setName] = useState<string | null>(null);
  if (name === null) {
    return (
      <button type="button" onClick={() => setName('')}>
        {words.saveView}
      </button>
    );
  }
  const save = () => {
    if (name.trim() !== '') onSave(name.trim());
    setName(null);
  };
  return (
    <span class="field inline">
      <input
        aria-label={words.viewName}
        placeholder={words.viewName}
        maxLength={40}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={({ key }) => key === 'Enter' && save()}
      />
      <button type="button" onClick={save}>
        {words.save}
      </button>
    </span>
  );
}
