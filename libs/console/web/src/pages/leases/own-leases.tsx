import { useState } from 'preact/hooks';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import { may } from '../../data/session.js';
import type { OwnLease } from '../../data/types.js';
import { Choice } from '../../ui/fields.js';
import { Instant, Left } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { CursorPager } from '../../ui/pager.js';
import { SearchField } from '../../ui/search-field.js';
import { Empty, Shown } from '../../ui/states.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { ClearOwnLease } from './clear-order.js';
import { LeaseWatch, type Watching } from './lease-watch.js';

const PER_PAGE = 50;
/** Each look reads the names of keys in the store, and no event tells of these leases. */
const EVERY_MS = 10_000;

const { own: words, clear: clearWords } = WORDS.leases;
const { heads } = WORDS;

/** What the application holds beside its crons. */
export function OwnLeases() {
  const [search, setSearch] = useState('');
  const [kind, setKind] = useState<OwnLease['kind'] | ''>('');
  // Where this page and those before it begin.
  const [pages, setPages] = useState<readonly string[]>([]);
  const cursor = pages.at(-1);
  const filter = { limit: PER_PAGE, ...(search !== '' && { search }), ...(kind !== '' && { kind }) };
  const query = questions.ownLeases({ ...filter, ...(cursor !== undefined && { cursor }) });
  const leases = useResource(query, { everyMs: EVERY_MS, keeps: true });
  const narrow = (change: () => void) => {
    change();
    setPages([]);
  };
  const filters = (
    <div class="filter">
      <Choice
        label={heads.kind}
        value={kind}
        options={words.choices}
        onChange={(value) => narrow(() => setKind(value as OwnLease['kind'] | ''))}
      />
      <SearchField placeholder={heads.name} value={search} onChange={(text) => narrow(() => setSearch(text))} />
    </div>
  );
  return (
    <Section title={words.title} aside={filters}>
      <Shown of={leases} what={WORDS.what.ownLeases}>
        {({ items, next }) => (
          <>
            <OwnLeaseTable leases={items} at={leases.at} reload={leases.reload} />
            <CursorPager {...{ pages, next }} onGo={setPages} />
          </>
        )}
      </Shown>
    </Section>
  );
}

interface OwnLeaseTableProps {
  readonly leases: readonly OwnLease[];
  readonly at: number;
  readonly reload: () => void;
}

function OwnLeaseTable({ leases, at, reload }: OwnLeaseTableProps) {
  const [clearing, setClearing] = useState<OwnLease | null>(null);
  const [watching, setWatching] = useState<Watching | null>(null);
  const close = () => {
    setClearing(null);
    reload();
  };
  return (
    <>
      {watching ? <LeaseWatch key={watching.query.key} watching={watching} /> : null}
      {leases.length === 0 ? (
        <Empty title={words.none}>
          <p>{words.noneText}</p>
        </Empty>
      ) : (
        <Table
          caption={words.title}
          columns={columns(at, setClearing)}
          rows={leases}
          keyOf={({ kind, resource, fence }) => `${kind} ${resource} ${fence}`}
        />
      )}
      {clearing ? <ClearOwnLease lease={clearing} onClose={close} onCleared={setWatching} /> : null}
    </>
  );
}

function columns(at: number, clear: (lease: OwnLease) => void): readonly Column<OwnLease>[] {
  const known: Column<OwnLease>[] = [
    { title: words.lease, heads: true, cell: ({ resource }) => resource },
    { title: heads.kind, cell: ({ kind }) => words.kinds[kind] },
    { title: heads.holder, cell: (lease) => <Holder lease={lease} /> },
    { title: heads.fence, numeric: true, cell: ({ fence }) => fence },
    { title: heads.left, numeric: true, cell: ({ remainingMs }) => <Left ms={remainingMs} at={at} /> },
    { title: heads.heldSince, cell: ({ heldSince }) => <HeldSince at={heldSince} /> },
  ];
  if (!may('admin')) return known;
  const button = (lease: OwnLease) => (
    <button
      type="button"
      class="danger"
      aria-label={clearWords.ofTerm(lease.resource, lease.fence)}
      onClick={() => clear(lease)}
    >
      {clearWords.button}
    </button>
  );
  return [...known, { title: heads.actions, cell: button }];
}

function Holder({ lease: { holder, holderIsPod } }: { readonly lease: OwnLease }) {
  return (
    <>
      {holder}
      <small class="under quiet">{holderIsPod ? words.livePod : words.noLivePod}</small>
    </>
  );
}

export function HeldSince({ at }: { readonly at: string | null }) {
  return at === null ? <span class="quiet">{WORDS.list.unknown}</span> : <Instant at={at} relative />;
}
