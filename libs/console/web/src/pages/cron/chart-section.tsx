import { useState } from 'preact/hooks';
import type { CronDetail, Timeline } from '../../data/types.js';
import { durationText } from '../../time/instants.js';
import { shownZone } from '../../time/zones.js';
import { Duration, Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { Chart } from './chart.js';
import { bucketOf, bucketsOf, type Bucket } from './percentiles.js';

const { cron: words } = WORDS;

interface ChartSectionProps {
  readonly cron: CronDetail;
  readonly timeline: Timeline;
}

/** Percentiles over the chosen range, drawn, and as a table for whoever can't use a drawing. */
export function ChartSection({ cron, timeline }: ChartSectionProps) {
  const [open, setOpen] = useState(false);
  const ended = timeline.items.filter(({ tookMs }) => tookMs !== null);
  if (ended.length < 2) return null;
  const buckets = bucketsOf(ended, timeline);
  const text = textOf(bucketOf(ended));
  return (
    <Section title={words.chart}>
      <figure>
        <Chart buckets={buckets} zone={shownZone(cron.timeZone)} label={text} />
        <figcaption class="quiet">{text}</figcaption>
      </figure>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{words.asTable}</summary>
        {open ? (
          <Table
            caption={words.chartCaption}
            columns={columns(cron.timeZone)}
            rows={buckets.toReversed()}
            keyOf={({ at }) => at}
          />
        ) : null}
      </details>
    </Section>
  );
}

function textOf({ runs, p50, p95, p99, delayP95 }: Bucket): string {
  return words.chartText({ runs: `${runs}`, p50: msOf(p50), p95: msOf(p95), p99: msOf(p99), delay: msOf(delayP95) });
}

function msOf(ms: number | null): string {
  return ms === null ? '–' : durationText(ms);
}

function columns(zone: string): readonly Column<Bucket>[] {
  return [
    { title: words.from, heads: true, cell: ({ at }) => <Instant at={at} zone={zone} /> },
    { title: words.runs, numeric: true, cell: ({ runs }) => runs },
    { title: words.p50, numeric: true, cell: ({ p50 }) => <Duration ms={p50} /> },
    { title: words.p95, numeric: true, cell: ({ p95 }) => <Duration ms={p95} /> },
    { title: words.p99, numeric: true, cell: ({ p99 }) => <Duration ms={p99} /> },
    { title: words.delay, numeric: true, cell: ({ delayP95 }) => <Duration ms={delayP95} /> },
  ];
}
