import { useState } from 'preact/hooks';
import type { Resource } from '../../data/resource.js';
import type { Answers } from '@fencepost/client';
import type { Pod } from '../../data/types.js';
import { Duration, Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { SearchField } from '../../ui/search-field.js';
import { Empty, Shown } from '../../ui/states.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { podsLike } from './pods.js';

const { leases: words, heads } = WORDS;
/** More rows than this nobody reads: a search finds the others. */
const MAX_SHOWN = 50;

export function Pods({ pods }: { readonly pods: Resource<Answers['PodList']> }) {
  const [search, setSearch] = useState('');
  const field = <SearchField placeholder={words.searchPods} value={search} onChange={setSearch} />;
  return (
    <Section title={words.pods} aside={field}>
      <Shown of={pods} what={words.pods.toLowerCase()}>
        {({ items, unreported }) => (
          <>
            {items.length === 0 ? <NoPods /> : <PodTable pods={podsLike(items, search)} />}
            <Unreported names={unreported} />
          </>
        )}
      </Shown>
    </Section>
  );
}

function PodTable({ pods }: { readonly pods: readonly Pod[] }) {
  const more = pods.length - MAX_SHOWN;
  return (
    <>
      <Table caption={words.pods} columns={COLUMNS} rows={pods.slice(0, MAX_SHOWN)} keyOf={({ pod }) => pod} />
      {more > 0 ? <p class="quiet">{words.morePods(more)}</p> : null}
    </>
  );
}

function Unreported({ names }: { readonly names: readonly string[] | null }) {
  if (names === null) return <p class="quiet">{words.unreportedUnknown}</p>;
  return names.length === 0 ? null : <p class="quiet">{words.unreported(names)}</p>;
}

function NoPods() {
  return (
    <Empty title={words.noPods}>
      <p>{words.noPodsText}</p>
    </Empty>
  );
}

function Name({ pod: { pod, host, pid, version } }: { readonly pod: Pod }) {
  return (
    <>
      {pod}
      <small class="under quiet">{words.process(host, pid, version)}</small>
    </>
  );
}

const COLUMNS: readonly Column<Pod>[] = [
  { title: heads.pod, heads: true, cell: (pod) => <Name pod={pod} /> },
  { title: words.roles, cell: ({ roles }) => roles.join(', ') },
  {
    title: words.revision,
    cell: ({ app, revision }) => (revision === null ? app : words.ofRevision(app ?? '', revision)),
  },
  {
    title: words.holdsHead,
    numeric: true,
    cell: ({ held, assigned }) => (held === null ? null : words.holds(held, assigned)),
  },
  {
    title: words.runs,
    numeric: true,
    cell: ({ running, concurrency }) => (running === null ? null : words.running(running, concurrency)),
  },
  { title: words.clockOffset, numeric: true, cell: ({ clockSkewMs }) => <Duration ms={clockSkewMs} /> },
  { title: words.roundTrip, numeric: true, cell: ({ rttMs }) => <Duration ms={rttMs} /> },
  { title: words.loopLag, numeric: true, cell: ({ lagMs }) => <Duration ms={lagMs} /> },
  { title: words.behind, numeric: true, cell: ({ lateMs }) => (lateMs === null ? null : <Duration ms={lateMs} />) },
  { title: words.leaseTtl, numeric: true, cell: ({ leaseTtlMs }) => <Duration ms={leaseTtlMs} /> },
  { title: words.started, cell: ({ startedAt }) => <Instant at={startedAt} relative /> },
];
