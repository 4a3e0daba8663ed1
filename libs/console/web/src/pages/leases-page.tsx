import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { to } from '../data/paths.js';
import { questions } from '../data/questions.js';
import { useResource } from '../data/resource.js';
import { may } from '../data/session.js';
import type { JournalEntry, Lease, Pod } from '../data/types.js';
import { Left, Duration, Instant } from '../ui/instant.js';
import { JournalTable } from '../ui/journal-table.js';
import { Page, Section } from '../ui/page.js';
import { CursorPager } from '../ui/pager.js';
import { SearchField } from '../ui/search-field.js';
import { Empty, Shown } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { ClearCronLease } from './leases/clear-order.js';
import { LeaseWatch, type Watching } from './leases/lease-watch.js';
import { LeasesGrid } from './leases/leases-grid.js';
import { HeldSince, OwnLeases } from './leases/own-leases.js';

const COLUMNS: readonly Column<Pod>[] = [
  { title: 'Pod', heads: true, cell: (pod) => <Name pod={pod} /> },
  { title: 'Roles', cell: ({ roles }) => roles.join(', ') },
  {
    title: 'Holds',
    numeric: true,
    cell: ({ held, assigned }) => (held === null ? null : `${held} of ${assigned ?? '?'}`),
  },
  {
    title: 'Runs',
    numeric: true,
    cell: ({ running, concurrency }) => (running === null ? null : `${running} of ${concurrency ?? '?'}`),
  },
  { title: 'Clock skew', numeric: true, cell: ({ clockSkewMs }) => <Duration ms={clockSkewMs} /> },
  { title: 'Store round trip', numeric: true, cell: ({ rttMs }) => <Duration ms={rttMs} /> },
  { title: 'Busy for', numeric: true, cell: ({ lagMs }) => <Duration ms={lagMs} /> },
  { title: 'Lease lasts', numeric: true, cell: ({ leaseTtlMs }) => <Duration ms={leaseTtlMs} /> },
  { title: 'Started', cell: ({ startedAt }) => <Instant at={startedAt} relative /> },
];

function PodTable({ pods }: { readonly pods: readonly Pod[] }) {
  if (pods.length > 0) return <Table caption="Pods" columns={COLUMNS} rows={pods} keyOf={({ pod }) => pod} />;
  return (
    <Empty title="No pod has reported">
      <p>Pods report every few seconds. Start a scheduler and a worker.</p>
    </Empty>
  );
}

function Name({ pod: { pod, host, pid, version } }: { readonly pod: Pod }) {
  return (
    <>
      {pod}
      <small class="under quiet">
        {host}, process {pid}, {version}
      </small>
    </>
  );
}

const PER_PAGE = 50;
/** Renewals are no events: what is left is asked for. */
const EVERY_MS = 3_000;

export function LeasesPage() {
  const pods = useResource(questions.pods, { concerns: ({ event }) => event === 'pods.changed', everyMs: EVERY_MS });
  return (
    <Page
      title="Leases"
      intro="What is held: crons, and what the application itself holds; by whom, since when, and the time left without renewal."
    >
      <LeasesGrid pods={pods.data?.items ?? []} />
      <Section title="Pods">
        <Shown of={pods} what="the pods">
          {({ items }) => <PodTable pods={items} />}
        </Shown>
      </Section>
      <QuorumNodes pods={pods.data?.items ?? []} />
      <Leases />
      <OwnLeases />
      <HandOvers />
    </Page>
  );
}

/** The servers that the leases of crons are on, where that is a quorum. */
function QuorumNodes({ pods }: { readonly pods: readonly Pod[] }) {
  const seen = pods.flatMap(({ label, leaseNodes }) => leaseNodes.map((one) => ({ ...one, label })));
  const nodes = [...new Set(seen.map(({ node }) => node))].toSorted();
  if (nodes.length === 0) return null;
  const leftOutBy = (name: string) => seen.filter(({ node, healthy }) => node === name && !healthy);
  const shown: readonly Column<string>[] = [
    { title: 'Node', heads: true, cell: (node) => node },
    {
      title: 'State',
      cell: (node) => {
        const out = leftOutBy(node).map(({ label }) => label);
        return out.length === 0 ? 'asked by all' : `left out by ${out.join(', ')}`;
      },
    },
  ];
  return (
    <Section title="Quorum nodes">
      <Table caption="Quorum nodes" columns={shown} rows={nodes} keyOf={(node) => node} />
    </Section>
  );
}

const isLease = ({ event }: JournalEntry) => event.startsWith('lease.');

function Leases() {
  const [pages, setPages] = useState<readonly string[]>([]);
  const cursor = pages.at(-1);
  const [search, setSearch] = useState('');
  const words = { limit: PER_PAGE, ...(cursor !== undefined && { cursor }), ...(search !== '' && { search }) };
  const leases = useResource(questions.leases(words), { concerns: isLease, everyMs: EVERY_MS, keeps: true });
  const typed = (text: string) => {
    setSearch(text);
    setPages([]);
  };
  return (
    <Section title="Leases" aside={<SearchField placeholder="Cron or pod" value={search} onChange={typed} />}>
      <Shown of={leases} what="the leases">
        {({ items, next }) => (
          <>
            <LeaseTable leases={items} at={leases.at} reload={leases.reload} />
            <CursorPager {...{ pages, next }} onGo={setPages} />
          </>
        )}
      </Shown>
    </Section>
  );
}

interface LeaseTableProps {
  readonly leases: readonly Lease[];
  readonly at: number;
  readonly reload: () => void;
}

function LeaseTable({ leases, at, reload }: LeaseTableProps) {
  const [clearing, setClearing] = useState<Lease | null>(null);
  const [watching, setWatching] = useState<Watching | null>(null);
  if (leases.length === 0 && watching === null) {
    return (
      <Empty title="No lease is held">
        <p>Start a scheduler pod, or wait a moment: after a restart, pods acquire the leases again.</p>
      </Empty>
    );
  }
  const close = () => {
    setClearing(null);
    reload();
  };
  return (
    <>
      {watching ? <LeaseWatch key={watching.query.key} watching={watching} /> : null}
      <Table caption="Leases" columns={columns(at, setClearing)} rows={leases} keyOf={({ cron }) => cron} />
      {clearing ? <ClearCronLease lease={clearing} onClose={close} onCleared={setWatching} /> : null}
    </>
  );
}

function columns(at: number, clear: (lease: Lease) => void): readonly Column<Lease>[] {
  const known: Column<Lease>[] = [
    { title: 'Cron', heads: true, cell: ({ cron }) => <Link href={to.cron(cron)}>{cron}</Link> },
    { title: 'Holder', cell: ({ holder }) => holder },
    { title: 'Fence', numeric: true, cell: ({ fence }) => fence },
    { title: 'Left', numeric: true, cell: ({ remainingMs }) => <Left ms={remainingMs} at={at} /> },
    { title: 'Held since', cell: ({ heldSince }) => <HeldSince at={heldSince} /> },
  ];
  if (!may('admin')) return known;
  const button = (lease: Lease) => (
    <button type="button" class="danger" aria-label={`Clear the lease of ${lease.cron}`} onClick={() => clear(lease)}>
      Clear …
    </button>
  );
  return [...known, { title: 'Do', cell: button }];
}

function HandOvers() {
  const journal = useResource(questions.journal(200), { concerns: isLease });
  return (
    <Section title="Hand-overs">
      <Shown of={journal} what="the journal">
        {({ items }) => {
          const entries = items.filter(isLease).slice(0, PER_PAGE);
          if (entries.length === 0) return <p class="quiet">No recent hand-overs.</p>;
          return <HandOverTable entries={entries} />;
        }}
      </Shown>
    </Section>
  );
}

function HandOverTable({ entries }: { readonly entries: readonly JournalEntry[] }) {
  return <JournalTable caption="Hand-overs, newest first" entries={entries} named />;
}
