import { Link } from 'wouter-preact';
import { query, to } from '../../data/paths.js';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { JournalEntry, Pod } from '../../data/types.js';
import { Section } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { None, Table, type Column } from '../../ui/table.js';
import { MAX_IN_A_ROW, shareOut, type Held, type Row } from './leases-by-pod.js';

/** As many as the API tells at once. */
const MAX_LEASES = 1_000;
const EVERY_MS = 5_000;

const concerns = ({ event }: JournalEntry) => event.startsWith('lease.');

/** Who holds what at a glance: a row a pod, with its crons; who wants to know more finds it in the tables below. */
export function LeasesGrid({ pods }: { readonly pods: readonly Pod[] }) {
  const leases = useResource(questions.leases({ limit: MAX_LEASES }), { concerns, everyMs: EVERY_MS });
  const unheld = useResource(questions.crons({ state: 'unheld', limit: MAX_IN_A_ROW }), {
    ...{ concerns, everyMs: EVERY_MS },
  });
  // Without an answer to the second, a row that is missing would say that all is held.
  return (
    <Section title="Leases by pod">
      <Shown of={{ ...leases, error: leases.error ?? unheld.error }} what="leases by pod">
        {({ items }) => {
          const { total = 0, items: crons = [] } = unheld.data ?? {};
          const rows = shareOut({ pods, leases: items, unheld: { total, crons: crons.map(({ name }) => name) } });
          if (rows.length === 0) return <p class="quiet">No scheduler pod is live, so there are no leases.</p>;
          return <Table caption="Crons by pod" columns={COLUMNS} rows={rows} keyOf={keyOf} marked={isNobody} />;
        }}
      </Shown>
    </Section>
  );
}

const keyOf = ({ pod }: Row) => pod ?? '';
const isNobody = ({ pod }: Row) => pod === null;

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Pod', heads: true, cell: ({ pod }) => <span class="pod-name">{pod ?? 'nobody'}</span> },
  { title: 'How many', numeric: true, cell: ({ total }) => total.toLocaleString('en') },
  { title: 'Crons', cell: (row) => (row.shown.length > 0 ? <Chips row={row} /> : <None />) },
];

function Chips({ row: { pod, shown, total } }: { readonly row: Row }) {
  const more = total - shown.length;
  const all = pod === null ? { state: 'unheld' } : { holder: pod };
  return (
    <ul class="chips">
      {shown.map((held) => (
        <li key={held.cron}>
          <Link class="chip" href={to.cron(held.cron)} title={titleOf(held)}>
            {held.cron}
          </Link>
        </li>
      ))}
      {more > 0 ? (
        <li>
          <Link href={`/${query(all)}`}>and {more.toLocaleString('en')} more</Link>
        </li>
      ) : null}
    </ul>
  );
}

function titleOf({ lease }: Held): string {
  if (lease === null) return 'It should fire, but no pod holds its lease';
  const { remainingMs, fence } = lease;
  const left = remainingMs === null ? '' : `${Math.ceil(remainingMs / 1_000)} s left, `;
  return `${left}fence ${fence}`;
}
