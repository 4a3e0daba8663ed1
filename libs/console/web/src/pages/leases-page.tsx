import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { to } from '../data/paths.js';
import { questions } from '../data/questions.js';
import { useResource, type Resource } from '../data/resource.js';
import { may } from '../data/session.js';
import type { JournalEntry, Lease, Pod } from '../data/types.js';
import { Left } from '../ui/instant.js';
import { JournalTable } from '../ui/journal-table.js';
import { Page, Section } from '../ui/page.js';
import { CursorPager } from '../ui/pager.js';
import { SearchField, TagField } from '../ui/search-field.js';
import { Empty, Shown } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { ClearCronLease } from './leases/clear-order.js';
import { LeaseWatch, type Watching } from './leases/lease-watch.js';
import { HeldSince, OwnLeases } from './leases/own-leases.js';
import { PodSummary } from './leases/pod-summary.js';
import { Pods } from './leases/pod-table.js';
import { WORDS } from '../words.js';

const { leases: words, heads } = WORDS;
const PER_PAGE = 50;
/** Enough for an hour without trouble. */
const JOURNAL = 200;
/** Renewals are no events: what is left is asked for. */
const EVERY_MS = 3_000;

export function LeasesPage() {
  const pods = useResource(questions.pods, { concerns: ({ event }) => event === 'pods.changed', everyMs: EVERY_MS });
  const journal = useResource(questions.journal(JOURNAL), { concerns: isLease });
  const members = pods.data?.items ?? [];
  return (
    <Page title={words.title}>
      <PodSummary pods={pods.data?.items ?? null} journal={journal.data?.items ?? null} />
      <Pods pods={pods} />
      <QuorumNodes pods={members} />
      <Leases />
      <OwnLeases />
      <HandOvers journal={journal} />
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
    { title: words.node, heads: true, cell: (node) => node },
    {
      title: heads.state,
      cell: (node) => {
        const out = leftOutBy(node).map(({ label }) => label);
        return out.length === 0 ? words.nodeHealthy : words.nodeLeftOut(out);
      },
    },
  ];
  return (
    <Section title={words.nodes}>
      <Table caption={words.nodes} columns={shown} rows={nodes} keyOf={(node) => node} />
    </Section>
  );
}

const isLease = ({ event }: JournalEntry) => event.startsWith('lease.');

function Leases() {
  const [pages, setPages] = useState<readonly string[]>([]);
  const cursor = pages.at(-1);
  const [search, setSearch] = useState('');
  const [tag, setTag] = useState('');
  const filter = { ...(search !== '' && { search }), ...(tag !== '' && { tag }) };
  const asked = { limit: PER_PAGE, ...filter, ...(cursor !== undefined && { cursor }) };
  const leases = useResource(questions.leases(asked), { concerns: isLease, everyMs: EVERY_MS, keeps: true });
  const typed = (set: (text: string) => void) => (text: string) => {
    set(text);
    setPages([]);
  };
  const fields = (
    <div class="filter">
      <SearchField placeholder={words.searchCrons} value={search} onChange={typed(setSearch)} />
      <TagField value={tag} onChange={typed(setTag)} />
    </div>
  );
  return (
    <Section title={words.ofCrons} aside={fields}>
      <Shown of={leases} what={WORDS.what.leases}>
        {({ items, next }) => (
          <>
            <LeaseTable leases={items} isNarrowed={search + tag !== ''} at={leases.at} reload={leases.reload} />
            <CursorPager {...{ pages, next }} onGo={setPages} />
          </>
        )}
      </Shown>
    </Section>
  );
}

interface LeaseTableProps {
  readonly leases: readonly Lease[];
  /** By a search or a tag. */
  readonly isNarrowed: boolean;
  readonly at: number;
  readonly reload: () => void;
}

function LeaseTable({ leases, isNarrowed, at, reload }: LeaseTableProps) {
  const [clearing, setClearing] = useState<Lease | null>(null);
  const [watching, setWatching] = useState<Watching | null>(null);
  if (leases.length === 0 && watching === null) {
    return (
      <Empty title={isNarrowed ? words.noMatch : words.noLeases}>
        <p>{isNarrowed ? words.noMatchText : words.noLeasesText}</p>
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
      <Table caption={words.ofCrons} columns={columns(at, setClearing)} rows={leases} keyOf={({ cron }) => cron} />
      {clearing ? <ClearCronLease lease={clearing} onClose={close} onCleared={setWatching} /> : null}
    </>
  );
}

function columns(at: number, clear: (lease: Lease) => void): readonly Column<Lease>[] {
  const known: Column<Lease>[] = [
    { title: heads.cron, heads: true, cell: ({ cron }) => <Link href={to.cron(cron)}>{cron}</Link> },
    { title: heads.holder, cell: ({ holder }) => holder },
    { title: heads.fence, numeric: true, cell: ({ fence }) => fence },
    { title: heads.left, numeric: true, cell: ({ remainingMs }) => <Left ms={remainingMs} at={at} /> },
    { title: heads.heldSince, cell: ({ heldSince }) => <HeldSince at={heldSince} /> },
  ];
  if (!may('admin')) return known;
  const button = (lease: Lease) => (
    <button type="button" class="danger" aria-label={words.clear.of(lease.cron)} onClick={() => clear(lease)}>
      {words.clear.button}
    </button>
  );
  return [...known, { title: heads.actions, cell: button }];
}

interface HandOversProps {
  readonly journal: Resource<{ readonly items: readonly JournalEntry[] }>;
}

function HandOvers({ journal }: HandOversProps) {
  return (
    <Section title={words.handOvers}>
      <Shown of={journal} what={WORDS.what.journal}>
        {({ items }) => {
          const entries = items.filter(isLease).slice(0, PER_PAGE);
          if (entries.length === 0) return <p class="quiet">{words.noHandOvers}</p>;
          return <JournalTable caption={words.handOversNewest} entries={entries} named />;
        }}
      </Shown>
    </Section>
  );
}
