import { useState } from 'preact/hooks';
import { useSearch, Link } from 'wouter-preact';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import { may } from '../../data/session.js';
import type { JournalEntry, Run } from '../../data/types.js';
import { Check } from '../../ui/fields.js';
import { ZoneNote } from '../../ui/instant.js';
import { Page, Section } from '../../ui/page.js';
import { RunTable } from '../../ui/run-table.js';
import { Empty, Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';
import { fittingRuns, type BatchName } from './batch.js';
import { BatchOrder } from './batch-order.js';
import { Failures } from './failures.js';
import { FilterForm } from './filter-form.js';
import { filterOf, questionOf, withFilter, type RunFilter } from './run-filter.js';

const { runs: words } = WORDS;
const EVERY_MS = 15_000;
const concerns = ({ event }: JournalEntry) => event.startsWith('attempt.');

/** All runs of all crons, as far as the filter in the address says. */
export function RunsPage() {
  const filter = filterOf(useSearch());
  const { cron, tag, from, to: before, state, fingerprint } = filter;
  const given = Object.entries({ cron, tag, from, to: before }).filter(([, value]) => value !== '');
  return (
    <Page title={words.title} intro={words.intro}>
      <FilterForm filter={filter} />
      {fingerprint === '' ? null : <p class="quiet">{words.kind(fingerprint)}</p>}
      {fingerprint === '' && (state === '' || state === 'failed') ? (
        <Failures query={Object.fromEntries(given)} />
      ) : null}
      <Found filter={filter} />
    </Page>
  );
}

function Found({ filter }: { readonly filter: RunFilter }) {
  const found = useResource(questions.runs(questionOf(filter)), { concerns, everyMs: EVERY_MS, keeps: true });
  return (
    <Section title={words.list}>
      <Shown of={found} what={words.what}>
        {({ items, next, complete }) => (
          <>
            {items.length === 0 ? <NoneFits /> : <Selectable key={filter.cursor} runs={items} />}
            {complete ? null : <p class="notice">{words.incomplete}</p>}
            <p class="buttons">
              {filter.cursor === '' ? null : <Link href={withFilter(filter, {})}>{words.first}</Link>}
              {next === null ? null : <Link href={withFilter(filter, { cursor: next })}>{words.next}</Link>}
            </p>
            <ZoneNote />
          </>
        )}
      </Shown>
    </Section>
  );
}

function NoneFits() {
  return (
    <Empty title={words.none}>
      <p>{words.noneText}</p>
    </Empty>
  );
}

const ORDERS: readonly BatchName[] = ['retry', 'cancel', 'resolve'];

/** Selected runs are those that are still shown: a run that has left the page is touched by no order. */
function Selectable({ runs }: { readonly runs: readonly Run[] }) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [order, setOrder] = useState<BatchName | null>(null);
  const selected = runs.filter(({ id }) => ids.has(id));
  if (!may('operator')) return <RunTable caption={words.caption} runs={runs} named />;
  const toggle = (id: string, on: boolean) =>
    setIds(new Set([...ids].filter((one) => one !== id).concat(on ? [id] : [])));
  const all = (on: boolean) => setIds(new Set(on ? runs.map(({ id }) => id) : []));
  const close = () => {
    setOrder(null);
    all(false);
  };
  return (
    <>
      <p class="buttons" role="group" aria-label={words.select}>
        <Check label={words.selectAll} checked={selected.length === runs.length} onChange={all} />
        <span role="status">{words.selected(selected.length)}</span>
        {ORDERS.map((one) => (
          <BatchButton key={one} order={one} selected={selected} onClick={() => setOrder(one)} />
        ))}
      </p>
      <RunTable
        caption={words.caption}
        runs={runs}
        named
        select={({ id }) => (
          <input
            type="checkbox"
            aria-label={words.selectRun(id)}
            checked={ids.has(id)}
            onChange={(event) => toggle(id, event.currentTarget.checked)}
          />
        )}
      />
      {order === null ? null : <Asked {...{ order, selected }} onClose={close} />}
    </>
  );
}

interface SelectedProps {
  readonly order: BatchName;
  readonly selected: readonly Run[];
}

function BatchButton({ order, selected, onClick }: SelectedProps & { readonly onClick: () => void }) {
  const count = fittingRuns(order, selected).length;
  return (
    <button type="button" disabled={count === 0} onClick={onClick}>
      {words.button(words.verbs[order], count)}
    </button>
  );
}

/** What was selected when it was opened: the list behind it goes on changing. */
function Asked({ order, selected, onClose }: SelectedProps & { readonly onClose: () => void }) {
  const [runs] = useState(() => fittingRuns(order, selected));
  const [others] = useState(selected.length - runs.length);
  return <BatchOrder {...{ order, runs, others, onClose }} runIds={runs.map(({ id }) => id)} />;
}
