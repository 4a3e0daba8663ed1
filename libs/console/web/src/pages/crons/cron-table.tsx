import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import type { CronSummary } from '../../data/types.js';
import { RunBadge, StateBadge } from '../../ui/badge.js';
import { Instant, Left } from '../../ui/instant.js';
import { Table, type Column } from '../../ui/table.js';

interface CronTableProps {
  readonly crons: readonly CronSummary[];
  /** When they were read, for what counts down. */
  readonly at: number;
}

export function CronTable({ crons, at }: CronTableProps) {
  return <Table caption="Crons" columns={columns(at)} rows={crons} keyOf={({ name }) => name} />;
}

function columns(at: number): readonly Column<CronSummary>[] {
  return [
    { title: 'Cron', heads: true, cell: (cron) => <Name cron={cron} /> },
    { title: 'State', cell: (cron) => <StateBadge cron={cron} /> },
    { title: 'Next', cell: ({ next, timeZone }) => next && <Instant at={next} zone={timeZone} relative /> },
    { title: 'Last run', cell: (cron) => cron.last && <Last cron={cron} /> },
    { title: 'Holder', cell: (cron) => cron.holder && <Holder cron={cron} at={at} /> },
  ];
}

function Name({ cron: { name, expression, timeZone } }: { readonly cron: CronSummary }) {
  return (
    <>
      <Link href={to.cron(name)}>{name}</Link>
      <small class="quiet under">
        {expression} · {timeZone}
      </small>
    </>
  );
}

function Last({ cron: { last, timeZone, uncertain, waiting } }: { readonly cron: CronSummary }) {
  if (!last) return null;
  return (
    <>
      <Link href={to.run(last.id)} className="bare">
        <RunBadge state={last.state} title={last.skipped ?? last.error ?? undefined} />
      </Link>{' '}
      <Instant at={last.scheduledAt} zone={timeZone} />
      {uncertain > 0 ? <small class="under warn-text">{uncertain} uncertain</small> : null}
      {waiting ? <small class="under warn-text">waits: {waiting}</small> : null}
    </>
  );
}

function Holder({ cron: { holder, fence, leaseLeftMs }, at }: { readonly cron: CronSummary; readonly at: number }) {
  return (
    <>
      {holder}
      <small class="quiet under">
        fence {fence} · <Left ms={leaseLeftMs} at={at} />
      </small>
    </>
  );
}
