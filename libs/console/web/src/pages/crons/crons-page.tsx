import { useLocation, useSearch } from 'wouter-preact';
import { query } from '../../data/paths.js';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { JournalEntry } from '../../data/types.js';
import { Page, Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';
import { CronFilter, type Filter } from './cron-filter.js';
import { CronTable } from './cron-table.js';
import { Totals } from './totals.js';

const PER_PAGE = 50;
const STATES = ['active', 'paused', 'disabled', 'removed', 'uncertain', 'unheld'] as const;
/** A deployment of 5,000 crons has an event every moment, and this is a list of many. */
const EVERY_MS = 5_000;

/** Fifty crons at a time: a page of 5,000 is as quick as one of 50, and nobody reads 5,000 rows. */
export function CronsPage() {
  const [filter, setFilter] = useFilter();
  const overview = useResource(questions.overview, { concerns: () => true, everyMs: EVERY_MS });
  const fresh = { concerns: ({ cron }: JournalEntry) => cron !== null, everyMs: EVERY_MS, keeps: true };
  const crons = useResource(questions.crons(wordsOf(filter)), fresh);
  return (
    <Page title="Crons">
      <Shown of={overview} what="the overview">
        {(data) => <Totals of={data} />}
      </Shown>
      <Section title="All crons" aside={<CronFilter {...{ filter, setFilter }} pods={overview.data?.pods ?? []} />}>
        <Shown of={crons} what="the crons">
          {({ items, next }) => (
            <>
              {items.length === 0 ? <Nothing filter={filter} /> : <CronTable crons={items} at={crons.at} />}
              {next === null ? null : <Next onGo={() => setFilter({ cursor: next })} />}
            </>
          )}
        </Shown>
      </Section>
    </Page>
  );
}

/** Only what is set: an empty word is no word. */
function wordsOf({ search, state, holder, cursor }: Filter) {
  const known = STATES.find((one) => one === state);
  return {
    limit: PER_PAGE,
    ...(cursor !== '' && { cursor }),
    ...(search !== '' && { search }),
    ...(holder !== '' && { holder }),
    ...(known && { state: known }),
  };
}

/** In the address, so that a view can be sent to somebody, and "back" leads back to it. */
function useFilter(): [Filter, (change: Partial<Filter>) => void] {
  const search = useSearch();
  const [, go] = useLocation();
  const change = (words: Partial<Filter>) => {
    // From the address as it is now: what was typed a moment ago must not undo what was chosen since.
    const filter = { ...filterIn(location.search), cursor: '', ...words };
    go(`/${query({ ...filter })}`, { replace: words.cursor === undefined });
  };
  return [filterIn(search), change];
}

function filterIn(search: string): Filter {
  const words = new URLSearchParams(search);
  const word = (name: string) => words.get(name) ?? '';
  return { search: word('search'), state: word('state'), holder: word('holder'), cursor: word('cursor') };
}

function Next({ onGo }: { readonly onGo: () => void }) {
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" onClick={onGo}>
        Next
      </button>
    </nav>
  );
}

function Nothing({ filter: { search, state, holder } }: { readonly filter: Filter }) {
  if (search !== '' || state !== '' || holder !== '') {
    return (
      <Empty title="No matching cron">
        <p>Shorten the search, or choose another state or holder.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No crons yet">
      <p>Declare one in a service that imports the jobs module, and start it:</p>
      <pre class="code" role="region" aria-label="An example" tabIndex={0}>
        {EXAMPLE}
      </pre>
      <p>It appears here as soon as a pod with it has started.</p>
    </Empty>
  );
}

const EXAMPLE = `@SingletonCron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin' })
async report(run: CronRun) {
  await run.effect('send', () => this.mail.send());
}`;
