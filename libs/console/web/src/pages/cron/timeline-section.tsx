import { useComputed } from '@preact/signals';
import { useState } from 'preact/hooks';
import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { CronDetail, Timeline, TimelineItem, Outcome } from '../../data/types.js';
import { now } from '../../time/now.js';
import { Choice } from '../../ui/fields.js';
import { Instant, ZoneNote } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';
import { ChartSection } from './chart-section.js';
import { rangeOf, spanFor, SPANS, stepOf, type Span } from './spans.js';
import { Markers } from './markers.js';
import { Marker } from './marker.js';
import { OUTCOMES } from './outcomes.js';

interface TimelineProps {
  readonly cron: CronDetail;
  readonly asked: string | null;
  readonly ask: (instant: string) => void;
}

const OPTIONS = SPANS.map(({ key, text }) => [key, text] as const);

export function TimelineSection({ cron, asked, ask }: TimelineProps) {
  const [span, setSpan] = useState<Span>(() => spanFor(cron));
  const timeline = useTimeline(cron.name, span);
  const choice = (
    <Choice
      label="The last"
      value={span.key}
      options={OPTIONS}
      onChange={(key) => setSpan(SPANS.find((one) => one.key === key) ?? span)}
    />
  );
  return (
    <>
      <Section title="Timeline" aside={choice}>
        <Shown of={timeline} what="the timeline">
          {(data) => <Drawn {...{ cron, asked, ask, span }} timeline={data} />}
        </Shown>
      </Section>
      {timeline.data ? <ChartSection cron={cron} items={timeline.data.items} /> : null}
      {timeline.data ? <Ahead cron={cron} items={timeline.data.items} /> : null}
    </>
  );
}

function useTimeline(name: string, span: Span) {
  const step = useComputed(() => stepOf(span, now.value));
  return useResource(cronQuestions.timeline(name, rangeOf(span, step.value)), {
    concerns: ({ cron }) => cron === name,
    keeps: true,
  });
}

interface DrawnProps extends TimelineProps {
  readonly span: Span;
  readonly timeline: Timeline;
}

function Drawn({ cron, asked, ask, span, timeline: { items, more, forgotten } }: DrawnProps) {
  if (items.length === 0) {
    return (
      <Empty title="No instants in this range">
        <p>Choose a longer range, or trigger it.</p>
      </Empty>
    );
  }
  return (
    <>
      <Legend items={items} />
      <Markers {...{ items, asked, ask, span }} zone={cron.timeZone} />
      {more === null ? null : (
        <p class="notice">
          There are more instants from <Instant at={more} zone={cron.timeZone} /> on. Choose a shorter range to see
          them.
        </p>
      )}
      {forgotten === null ? null : (
        <p class="quiet">
          What happened up to <Instant at={forgotten} zone={cron.timeZone} /> may have expired.
        </p>
      )}
      <ZoneNote zone={cron.timeZone} />
    </>
  );
}

const SHOWN_AHEAD = 5;

interface AheadProps {
  readonly cron: CronDetail;
  readonly items: readonly TimelineItem[];
}

function Ahead({ cron, items }: AheadProps) {
  const ahead = items.filter(({ outcome }) => outcome === 'ahead').map(({ scheduledAt }) => scheduledAt);
  const instants = (ahead.length > 0 ? ahead : cron.next === null ? [] : [cron.next]).slice(0, SHOWN_AHEAD);
  return (
    <Section title="Next instants">
      {instants.length === 0 ? (
        <p class="quiet">None: it does not fire by schedule now.</p>
      ) : (
        <ol class="plain-list">
          {instants.map((at) => (
            <li key={at}>
              <Instant at={at} zone={cron.timeZone} relative />
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

/** What the marks mean; only those that are there, and how many. */
function Legend({ items }: { readonly items: readonly TimelineItem[] }) {
  const counts = new Map<Outcome, number>();
  for (const { outcome, count } of items) counts.set(outcome, (counts.get(outcome) ?? 0) + count);
  const present = (Object.keys(OUTCOMES) as Outcome[]).filter((outcome) => counts.has(outcome));
  return (
    <ul class="legend" aria-label="What the marks mean">
      {present.map((outcome) => (
        <li key={outcome} title={OUTCOMES[outcome]}>
          <Marker outcome={outcome} /> {outcome} <span class="quiet">{counts.get(outcome)}</span>
        </li>
      ))}
    </ul>
  );
}
