import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import type { CronSummary, Mute } from '../../data/types.js';
import { durationText } from '../../time/instants.js';
import { HealthBadge } from '../../ui/badge.js';
import { Duration, Instant, Since } from '../../ui/instant.js';
import { MutedMark } from '../../ui/muted.js';
import { None, Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { Tags } from '../../ui/tags.js';
import { Marks } from './marks.js';
import { directionOf, sortedBy, type Sort, type View } from './view.js';

const { home: words, heads } = WORDS;

interface CronTableProps {
  readonly crons: readonly CronSummary[];
  readonly mutes: readonly Mute[];
  readonly view: View;
  readonly change: (part: Partial<View>) => void;
}

export function CronTable({ crons, mutes, view, change }: CronTableProps) {
  const sorts = (sort: Sort) => ({ direction: directionOf(view, sort), onSort: () => change(sortedBy(view, sort)) });
  const columns: readonly Column<CronSummary>[] = [
    { title: heads.cron, heads: true, sorts: sorts('name'), cell: (cron) => <Name cron={cron} /> },
    { title: heads.state, sorts: sorts('attention'), cell: (cron) => <State {...{ cron, mutes }} /> },
    { title: words.last30, cell: (cron) => <Marks cron={cron} /> },
    { title: words.duration, numeric: true, sorts: sorts('duration'), cell: (cron) => <Took cron={cron} /> },
    {
      ...{ title: words.delay, numeric: true, sorts: sorts('delay') },
      cell: ({ startDelayP95Ms }) => <Duration ms={startDelayP95Ms} />,
    },
    {
      ...{ title: heads.next, sorts: sorts('next') },
      cell: ({ next, timeZone }) => next && <Instant at={next} zone={timeZone} relative />,
    },
  ];
  return <Table caption={words.crons} columns={columns} rows={crons} keyOf={({ name }) => name} />;
}

function Name({ cron: { name, expression, timeZone, tags, description, owner } }: { readonly cron: CronSummary }) {
  return (
    <>
      <Link href={to.cron(name)} title={description ?? undefined}>
        {name}
      </Link>
      <small class="quiet under">
        {expression} · {timeZone}
        {owner === null ? null : ` · ${owner}`}
        <Tags of={tags} />
      </small>
    </>
  );
}

interface StateProps {
  readonly cron: CronSummary;
  readonly mutes: readonly Mute[];
}

function State({ cron, mutes }: StateProps) {
  const { health, manual } = cron;
  const { state, since } = health;
  return (
    <>
      <HealthBadge cron={cron} />
      {since === null || state === 'healthy' ? null : (
        <small class="quiet under">
          <Since at={since} />
        </small>
      )}
      <MutedMark {...{ cron, mutes }} />
      {manual ? <small class="quiet under">{words.manual}</small> : null}
    </>
  );
}

function Took({ cron: { duration } }: { readonly cron: CronSummary }) {
  if (duration === null) return <None />;
  const { p50Ms, p95Ms } = duration;
  return (
    <span class="duration">
      {durationText(p50Ms)} / {durationText(p95Ms)}
    </span>
  );
}
