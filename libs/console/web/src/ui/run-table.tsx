import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { to } from '../data/paths.js';
import type { Run } from '../data/types.js';
import { RunBadge } from './badge.js';
import { Duration, Instant } from './instant.js';
import { WORDS } from '../words.js';
import { Table, type Column } from './table.js';

const { heads } = WORDS;

interface RunTableProps {
  readonly caption: string;
  readonly runs: readonly Run[];
  readonly zone?: string;
  /** With the name of the cron, where there are several. */
  readonly named?: boolean;
  /** A box to select it by. */
  readonly select?: (run: Run) => ComponentChildren;
}

export function RunTable({ caption, runs, zone, named, select }: RunTableProps) {
  const columns: Column<Run>[] = [
    { title: heads.run, heads: true, cell: (run) => <Which run={run} zone={zone} named={named === true} /> },
    { title: heads.state, cell: ({ state, skipped }) => <RunBadge state={state} title={skipped ?? undefined} /> },
    { title: heads.attempts, numeric: true, cell: ({ attempt }) => attempt },
    { title: WORDS.run.facts.delay, numeric: true, cell: ({ lateByMs }) => <Duration ms={lateByMs} /> },
    { title: heads.took, numeric: true, cell: ({ tookMs }) => <Duration ms={tookMs} /> },
    { title: heads.worker, cell: ({ worker }) => worker },
    {
      title: heads.error,
      cell: ({ error, skipped }) => (error ?? skipped) && <Wrong text={error ?? skipped ?? ''} />,
    },
  ];
  if (select) columns.unshift({ title: WORDS.runs.select, cell: select });
  return <Table {...{ caption, columns }} rows={runs} keyOf={({ id }) => id} />;
}

interface WhichProps {
  readonly run: Run;
  readonly zone: string | undefined;
  readonly named: boolean;
}

function Which({ run: { id, cron, scheduledAt, reason }, zone, named }: WhichProps) {
  return (
    <>
      <Link href={to.run(id)}>{named ? cron : <Instant at={scheduledAt} zone={zone} />}</Link>
      {named ? (
        <small class="under quiet">
          <Instant at={scheduledAt} zone={zone} />
        </small>
      ) : null}
      {reason === 'schedule' ? null : <small class="under quiet">{reason}</small>}
    </>
  );
}

function Wrong({ text }: { readonly text: string }) {
  return (
    <span class="clipped" title={text}>
      {text}
    </span>
  );
}
