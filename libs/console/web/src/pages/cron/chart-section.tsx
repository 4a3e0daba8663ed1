import { useState } from 'preact/hooks';
import type { CronDetail, TimelineItem } from '../../data/types.js';
import { durationText } from '../../time/instants.js';
import { shownZone } from '../../time/zones.js';
import { Duration, Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';
import { Chart } from './chart.js';

interface ChartSectionProps {
  readonly cron: CronDetail;
  readonly items: readonly TimelineItem[];
}

/** How late runs began and how long they took, drawn, and as a table for whoever can't use a drawing. */
export function ChartSection({ cron, items }: ChartSectionProps) {
  const [open, setOpen] = useState(false);
  const begun = items.filter(({ lateByMs }) => lateByMs !== null);
  if (begun.length < 2) return null;
  return (
    <Section title="Lateness and duration">
      <figure>
        <Chart items={begun} zone={shownZone(cron.timeZone)} label={summaryOf(begun)} />
        <figcaption class="quiet">{summaryOf(begun)}</figcaption>
      </figure>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>As a table</summary>
        {open ? (
          <Table
            caption="Lateness and duration"
            columns={columns(cron.timeZone)}
            rows={begun.toReversed()}
            keyOf={({ scheduledAt, runId }) => scheduledAt + (runId ?? '')}
          />
        ) : null}
      </details>
    </Section>
  );
}

function columns(zone: string): readonly Column<TimelineItem>[] {
  return [
    { title: 'Instant', heads: true, cell: ({ scheduledAt }) => <Instant at={scheduledAt} zone={zone} /> },
    { title: 'Outcome', cell: ({ outcome }) => outcome },
    { title: 'Late by', numeric: true, cell: ({ lateByMs }) => <Duration ms={lateByMs} /> },
    { title: 'Took', numeric: true, cell: ({ tookMs }) => <Duration ms={tookMs} /> },
  ];
}

function summaryOf(items: readonly TimelineItem[]): string {
  const late = items.map(({ lateByMs }) => lateByMs ?? 0);
  const took = items.flatMap(({ tookMs }) => (tookMs === null ? [] : [tookMs]));
  const longest = took.length === 0 ? '' : `; durations: median ${median(took)}, maximum ${largest(took)}`;
  return `Lateness of ${items.length} runs: median ${median(late)}, maximum ${largest(late)}${longest}.`;
}

function median(values: readonly number[]): string {
  return durationText(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);
}

function largest(values: readonly number[]): string {
  return durationText(Math.max(...values));
}
