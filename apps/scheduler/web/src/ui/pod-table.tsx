import type { Pod } from '../data/types.js';
import { Duration, Instant } from './instant.js';
import { Empty } from './states.js';
import { Table, type Column } from './table.js';

const COLUMNS: readonly Column<Pod>[] = [
  { title: 'Pod', heads: true, cell: (pod) => <Name pod={pod} /> },
  { title: 'Roles', cell: ({ roles }) => roles.join(', ') },
  { title: 'Holds', numeric: true, cell: ({ held, share }) => (held === null ? null : `${held} of ${share ?? '?'}`) },
  {
    title: 'Runs',
    numeric: true,
    cell: ({ running, concurrency }) => (running === null ? null : `${running} of ${concurrency ?? '?'}`),
  },
  { title: 'Clock off by', numeric: true, cell: ({ clockSkewMs }) => <Duration ms={clockSkewMs} /> },
  { title: 'Store answers in', numeric: true, cell: ({ rttMs }) => <Duration ms={rttMs} /> },
  { title: 'Busy for', numeric: true, cell: ({ lagMs }) => <Duration ms={lagMs} /> },
  { title: 'Lease lasts', numeric: true, cell: ({ leaseTtlMs }) => <Duration ms={leaseTtlMs} /> },
  { title: 'Started', cell: ({ startedAt }) => <Instant at={startedAt} relative /> },
];

export function PodTable({ pods }: { readonly pods: readonly Pod[] }) {
  if (pods.length > 0) return <Table caption="Pods" columns={COLUMNS} rows={pods} keyOf={({ pod }) => pod} />;
  return (
    <Empty title="No pod has reported">
      <p>Each pod does so every few seconds. Start a scheduler and a worker.</p>
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
