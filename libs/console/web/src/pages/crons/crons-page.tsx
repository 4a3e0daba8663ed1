import { useLocation, useSearch } from 'wouter-preact';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { JournalEntry } from '../../data/types.js';
import { now } from '../../time/now.js';
import { useMutes } from '../../ui/muted.js';
import { Page, Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';
import { BulkOrders } from './bulk-orders.js';
import { CronFilter } from './cron-filter.js';
import { CronTable } from './cron-table.js';
import { Totals } from './totals.js';
import { TriageStrip } from './triage.js';
import { addressOf, asked, viewIn, type View } from './view.js';

const { home: words } = WORDS;
const PER_PAGE = 50;
/** A deployment of 5,000 crons has an event every moment, and this is a list of many. */
const EVERY_MS = 5_000;

/** Fifty crons at a time: a page of 5,000 is as quick as one of 50, and nobody reads 5,000 rows. */
export function CronsPage() {
  const [view, change] = useView();
  const overview = useResource(questions.overview, { concerns: () => true, everyMs: EVERY_MS });
  const fresh = { concerns: ({ cron }: JournalEntry) => cron !== null, everyMs: EVERY_MS, keeps: true };
  const crons = useResource(questions.crons(asked(view, PER_PAGE, now.peek())), fresh);
  const mutes = useMutes().data?.items ?? [];
  return (
    <Page title={words.title}>
      <TriageStrip />
      <Shown of={overview} what={words.totals.toLowerCase()}>
        {(data) => <Totals of={data} />}
      </Shown>
      <Section title={words.crons} aside={<CronFilter {...{ view, change }} />}>
        <BulkOrders tag={view.tag} />
        <Shown of={crons} what={words.crons.toLowerCase()}>
          {({ items, total, next, unreadable }) => (
            <>
              {unreadable.map(({ name, reason }) => (
                <p key={name} class="notice bad">
                  {words.unreadable(name, reason)}
                </p>
              ))}
              {items.length === 0 ? <Nothing view={view} /> : <CronTable crons={items} {...{ mutes, view, change }} />}
              <Pages {...{ total, next, view, change }} shown={items.length} />
            </>
          )}
        </Shown>
      </Section>
    </Page>
  );
}

/** In the address, so that a view can be sent to somebody, and "back" leads back to it. */
function useView(): [View, (part: Partial<View>) => void] {
  const search = useSearch();
  const [, go] = useLocation();
  const change = (part: Partial<View>) => {
    // From the address as it is now: what was typed a moment ago must not undo what was chosen since.
    go(addressOf({ ...viewIn(location.search), cursor: '', ...part }), { replace: !part.cursor });
  };
  return [viewIn(search), change];
}

interface PagesProps {
  readonly shown: number;
  readonly total: number;
  readonly next: string | null;
  readonly view: View;
  readonly change: (part: Partial<View>) => void;
}

function Pages({ shown, total, next, view: { cursor }, change }: PagesProps) {
  if (next === null && cursor === '') return null;
  return (
    <nav class="pager" aria-label={words.pages}>
      <button type="button" disabled={cursor === ''} onClick={() => change({ cursor: '' })}>
        {words.firstPage}
      </button>
      <span>{words.shown(shown, total)}</span>
      <button type="button" disabled={next === null} onClick={() => next !== null && change({ cursor: next })}>
        {words.nextPage}
      </button>
    </nav>
  );
}

function Nothing({ view }: { readonly view: View }) {
  if (addressOf(view) !== '/') {
    return (
      <Empty title={words.noMatch}>
        <p>{words.noMatchText}</p>
      </Empty>
    );
  }
  return (
    <Empty title={words.noCrons}>
      <p>{words.declareOne}</p>
      <pre class="code" role="region" aria-label={words.example} tabIndex={0}>
        {words.code}
      </pre>
      <p>{words.appears}</p>
    </Empty>
  );
}
