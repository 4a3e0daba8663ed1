import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { TimelineItem } from '../../data/types.js';
import { clockText, dayText, hourText, instantText } from '../../time/instants.js';
import { systemIsDark, theme } from '../../ui/theme.js';

interface ChartProps {
  readonly items: readonly TimelineItem[];
  readonly zone: string;
  readonly label: string;
}

/** The library comes when the first chart is drawn: the list of crons does not wait for it. */
export function Chart({ items, zone, label }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const look = `${theme.value} ${systemIsDark.value}`;
  const first = items[0]?.scheduledAt;
  const last = items.at(-1)?.scheduledAt;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    return drawn(element, { items, zone });
  }, [first, last, items.length, zone, look]);
  return <div ref={place} class="chart" role="img" aria-label={label} />;
}

type Drawing = Pick<ChartProps, 'items' | 'zone'>;

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
    scales: { y: { range: (_, __, max) => [0, Math.max(0.1, max * 1.1)] } },
    axes: [
      { ...axis, space: 70, values: (_, ticks) => ticks.map((at) => at && tickText(at, drawing)) },
      { ...axis, values: (_, ticks) => ticks.map((seconds) => `${seconds} s`), size: 60 },
    ],
    series: [
      { label: 'Instant', value: (_, at) => (at ? instantText(isoAt(at), drawing.zone) : '–') },
      points('Late by', colour('warn')),
      { ...points('Took', colour('accent')), dash: [4, 4] },
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
function tickText(at: number, { items, zone }: Drawing): string {
  const [first, last] = [items[0], items.at(-1)].map((item) => Date.parse(item?.scheduledAt ?? ''));
  const range = (last ?? 0) - (first ?? 0);
  if (range > 2 * DAY_MS) return dayText(isoAt(at), zone);
  return range < TEN_MINUTES_MS ? clockText(isoAt(at), zone) : hourText(isoAt(at), zone);
}

function secondsText(_: uPlot, seconds: number | null): string {
  return seconds === null ? '–' : `${seconds.toFixed(2)} s`;
}

function points(label: string, stroke: string): uPlot.Series {
  return { label, stroke, width: 1.5, points: { show: true, size: 5, stroke, fill: stroke }, value: secondsText };
}

function inSeconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1_000;
}

function dataOf({ items }: Drawing): uPlot.AlignedData {
  return [
    items.map(({ scheduledAt }) => Date.parse(scheduledAt) / 1_000),
    items.map(({ lateByMs }) => inSeconds(lateByMs)),
    items.map(({ tookMs }) => inSeconds(tookMs)),
  ];
}
