import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { clockText, dayText, durationText, hourText, instantText } from '../../time/instants.js';
import { systemIsDark, theme } from '../../ui/theme.js';
import { WORDS } from '../../words.js';
import type { Bucket } from './percentiles.js';

const { cron: words } = WORDS;

interface ChartProps {
  readonly buckets: readonly Bucket[];
  readonly zone: string;
  readonly label: string;
}

/** The library comes when the first chart is drawn: the list of crons does not wait for it. */
export function Chart({ buckets, zone, label }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const look = `${theme.value} ${systemIsDark.value}`;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    return drawn(element, { buckets, zone });
  }, [JSON.stringify(buckets), zone, look]);
  return <div ref={place} class="chart" role="img" aria-label={label} />;
}

type Drawing = Pick<ChartProps, 'buckets' | 'zone'>;

function drawn(element: HTMLElement, drawing: Drawing): () => void {
  let gone = false;
  let plot: uPlot | undefined;
  const fit = new ResizeObserver(() => plot?.setSize(sizeOf(element)));
  void import('uplot').then(({ default: Plot }) => {
    if (gone) return;
    const tzDate = (at: number) => Plot.tzDate(new Date(at * 1_000), drawing.zone);
    plot = new Plot(options(element, drawing, tzDate), dataOf(drawing), element);
    fit.observe(element);
  });
  return () => {
    gone = true;
    fit.disconnect();
    plot?.destroy();
  };
}

const HEIGHT = 220;

function sizeOf(element: HTMLElement) {
  return { width: element.clientWidth, height: HEIGHT };
}

function options(element: HTMLElement, drawing: Drawing, tzDate: (at: number) => Date): uPlot.Options {
  const colour = (name: string) => colourOf(element, name);
  const axis = { stroke: colour('text-quiet'), grid: { stroke: colour('line') }, ticks: { stroke: colour('line') } };
  return {
    ...sizeOf(element),
    tzDate,
    cursor: { drag: { x: false, y: false } },
    scales: { y: { distr: LOG, log: 10, range: (_, least, most) => rangeOf(least, most) } },
    axes: [
      { ...axis, space: 70, values: (_, ticks) => ticks.map((at) => at && tickText(at, drawing)) },
      {
        ...{ stroke: axis.stroke, size: 80, filter: powersOf, values: (_, ticks) => ticks.map(powerText) },
        ...{ grid: { ...axis.grid, filter: powersOf }, ticks: { ...axis.ticks, filter: powersOf } },
      },
    ],
    series: [
      { label: words.instant, value: (_, at) => (at ? instantText(isoAt(at), drawing.zone) : '–') },
      points(words.p50, colour('good')),
      { ...points(words.p95, colour('accent')), dash: [6, 3] },
      { ...points(words.p99, colour('bad')), dash: [2, 3] },
      { ...points(words.delay, colour('warn')), dash: [8, 4, 2, 4] },
    ],
  };
}

/** A canvas takes no custom property: the browser is asked what it comes to in this light. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(--${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

const DAY_MS = 86_400_000;
const TEN_MINUTES_MS = 600_000;

function isoAt(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** Days where there are several, else the clock, with seconds where minutes would all be the same. */
function tickText(at: number, { buckets, zone }: Drawing): string {
  const [first, last] = [buckets[0], buckets.at(-1)].map((bucket) => Date.parse(bucket?.at ?? ''));
  const range = (last ?? 0) - (first ?? 0);
  if (range > 2 * DAY_MS) return dayText(isoAt(at), zone);
  return range < TEN_MINUTES_MS ? clockText(isoAt(at), zone) : hourText(isoAt(at), zone);
}

/** Logarithmic, in the words of the library. */
const LOG = 3;

/** Whole powers of ten: nothing lies on an edge, and zero has no place on such an axis. */
function rangeOf(least: number, most: number): [number, number] {
  const low = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [low, Math.max(low * 10, 10 ** Math.ceil(Math.log10(Math.max(1, most) + 1)))];
}

/** A line for each power of ten, and none between them. */
function powersOf(_: uPlot, splits: (number | null)[]): (number | null)[] {
  return splits.map((ms) => (ms !== null && Number.isInteger(Math.log10(ms)) ? ms : null));
}

function powerText(ms: number | null): string {
  return ms === null ? '' : durationText(ms);
}

function valueText(_: uPlot, ms: number | null): string {
  return ms === null ? '–' : durationText(ms);
}

function points(label: string, stroke: string): uPlot.Series {
  return { label, stroke, width: 1.5, points: { show: true, size: 5, stroke, fill: stroke }, value: valueText };
}

function shown(ms: number | null): number | null {
  return ms === null ? null : Math.max(1, ms);
}

function dataOf({ buckets }: Drawing): uPlot.AlignedData {
  return [
    buckets.map(({ at }) => Date.parse(at) / 1_000),
    buckets.map(({ p50 }) => shown(p50)),
    buckets.map(({ p95 }) => shown(p95)),
    buckets.map(({ p99 }) => shown(p99)),
    buckets.map(({ delayP95 }) => shown(delayP95)),
  ];
}
