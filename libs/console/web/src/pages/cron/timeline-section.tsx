import { computed } from '@preact/signals';
import { useMemo, useState } from 'preact/hooks';
import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { CronDetail, Timeline, TimelineItem, Outcome } from '../../data/types.js';
import { now } from '../../time/now.js';
import { shownZone } from '../../time/zones.js';
import { Choice } from '../../ui/fields.js';
import { Instant, ZoneNote } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';
import { calendarOf } from './calendar.js';
import { CalendarGrid } from './calendar-grid.js';
import { ChartSection } from './chart-section.js';
import { detailOf, rangeOf, spanFor, SPANS, stepOf, type Span } from './spans.js';
import { Marker } from './marker.js';

const { cron: words } = WORDS;

interface TimelineProps {
  readonly cron: CronDetail;
  readonly asked: string | null;
  readonly ask: (instant: string) => void;
}

const OPTIONS = SPANS.map(({ key }) => [key, words.spans[key] ?? key] as const);

export function TimelineSection({ cron, asked, ask }: TimelineProps) {
  const [span, setSpan] = useState<Span>(() => spanFor(cron));
  const timeline = useTimeline(cron, span);
  const choice = (
    <Choice
      label={words.last}
      value={span.key}
      options={OPTIONS}
      onChange={(key) => setSpan(SPANS.find((one) => one.key === key) ?? span)}
    />
  );
  return (
    <>
      <Section title={words.timeline} aside={choice}>
        <Shown of={timeline} what={WORDS.what.timeline}>
          {(data) => <Drawn {...{ cron, asked, ask, span }} timeline={data} />}
        </Shown>
      </Section>
      {timeline.data ? <ChartSection cron={cron} timeline={timeline.data} /> : null}
    </>
  );
}

/** What is counted is asked for by the clock: a cron that fires each second would have it counted all the time. */
const COUNTED_EVERY_MS = 30_000;

function useTimeline(cron: CronDetail, span: Span) {
  const { name } = cron;
  // Of this span: a step of another one is a time in another age.
  const step = useMemo(() => computed(() => stepOf(span, now.value)), [span]);
  // Of this cron, and not anew with each of its instants.
  const detail = useMemo(() => detailOf(span, cron), [span, name]);
  return useResource(cronQuestions.timeline(name, { ...rangeOf(span, step.value), ...detail }), {
    ...('bucket' in detail ? { everyMs: COUNTED_EVERY_MS } : { concerns: (entry) => entry.cron === name }),
    keeps: true,
  });
}

interface DrawnProps extends TimelineProps {
  readonly span: Span;
  readonly timeline: Timeline;
}

function Drawn({ cron, asked, ask, span, timeline }: DrawnProps) {
  const { items, more, forgotten } = timeline;
  if (items.length === 0) {
    return (
      <Empty title={words.noInstants}>
        <p>{words.noInstantsText}</p>
      </Empty>
    );
  }
  const shown = { view: span.view, span: timeline, zone: shownZone(cron.timeZone), now: Date.parse(timeline.now) };
  return (
    <>
      <Legend items={items} />
      <CalendarGrid calendar={calendarOf(items, shown)} {...{ asked, ask }} zone={cron.timeZone} />
      {more === null ? null : (
        <p class="notice">
          {words.more} <Instant at={more} zone={cron.timeZone} />.
        </p>
      )}
      {forgotten === null ? null : (
        <p class="quiet">
          {words.expired} <Instant at={forgotten} zone={cron.timeZone} />.
        </p>
      )}
      <ZoneNote zone={cron.timeZone} />
    </>
  );
}

const ASKED = ['manual', 'backfill'] as const;

/** What the marks mean; only those that are there, and how many. */
function Legend({ items }: { readonly items: readonly TimelineItem[] }) {
  const counts = new Map<Outcome, number>();
  for (const { outcome, count } of items) counts.set(outcome, (counts.get(outcome) ?? 0) + count);
  const present = (Object.keys(words.outcomes) as Outcome[]).filter((outcome) => counts.has(outcome));
  return (
    <ul class="legend" aria-label={words.legend}>
      {present.map((outcome) => (
        <li key={outcome} title={words.outcomes[outcome]}>
          <Marker outcome={outcome} /> {outcome} <span class="quiet">{counts.get(outcome)}</span>
        </li>
      ))}
      {ASKED.filter((asked) => items.some((item) => item.asked === asked)).map((asked) => (
        <li key={asked}>
          <Marker outcome="ran" asked={asked} /> {words.asked[asked]}
        </li>
      ))}
    </ul>
  );
}
