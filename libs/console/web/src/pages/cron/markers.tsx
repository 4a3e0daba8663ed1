import { useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import type { TimelineItem } from '../../data/types.js';
import { clockText, dayText, hourText } from '../../time/instants.js';
import { shownZone } from '../../time/zones.js';
import { Marker } from './marker.js';
import { lineOf } from './outcomes.js';
import type { Span } from './spans.js';

interface MarkersProps {
  readonly items: readonly TimelineItem[];
  readonly asked: string | null;
  readonly ask: (instant: string) => void;
  readonly span: Span;
  readonly zone: string;
}

const MAX_MARKERS = 600;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -10, ArrowDown: 10 };

/** One stop of the tab key for all marks; arrows go from one to the next. */
export function Markers({ items, asked, ask, span, zone: own }: MarkersProps) {
  const box = useRef<HTMLDivElement>(null);
  const zone = shownZone(own);
  const shown = items.slice(-MAX_MARKERS);
  const chosen = shown.find(({ scheduledAt }) => scheduledAt === asked);
  const entry = chosen ?? shown.findLast(({ outcome }) => outcome !== 'ahead') ?? shown[0];
  const move = (event: KeyboardEvent) => moveFocus(box.current, event);
  return (
    <div
      ref={box}
      class="marks"
      role="group"
      aria-label="Instants; use the arrow keys to move between them"
      onKeyDown={move}
    >
      {grouped(shown, (item) => labelOf(item, { span, zone })).map(([label, group]) => (
        <div class="marks-row" key={label}>
          <span class="marks-label">{label}</span>
          <span class="marks-of">
            {group.map((item) => (
              <MarkerButton
                key={item.scheduledAt + (item.runId ?? '')}
                line={lineOf(item, zone)}
                {...{ item, ask, stop: item === entry, chosen: item === chosen }}
              />
            ))}
          </span>
        </div>
      ))}
      <p class="chosen" aria-live="polite">
        {chosen ? <Chosen item={chosen} line={lineOf(chosen, zone)} /> : 'Select a mark to see the explanation.'}
      </p>
    </div>
  );
}

interface MarkerButtonProps {
  readonly item: TimelineItem;
  readonly line: string;
  readonly ask: (instant: string) => void;
  readonly stop: boolean;
  readonly chosen: boolean;
}

function MarkerButton({ item: { scheduledAt, outcome, count }, line, ask, stop, chosen }: MarkerButtonProps) {
  return (
    <button
      type="button"
      class="mark-button"
      title={line}
      aria-pressed={chosen}
      tabIndex={stop ? 0 : -1}
      onClick={() => ask(scheduledAt)}
    >
      <Marker outcome={outcome} />
      <span class="hidden">{line}</span>
      {count > 1 ? <small aria-hidden="true">×{count}</small> : null}
    </button>
  );
}

function Chosen({ item: { runId }, line }: { readonly item: TimelineItem; readonly line: string }) {
  return (
    <>
      {line}
      {runId === null ? null : (
        <>
          {' · '}
          <Link href={to.run(runId)}>Open the run</Link>
        </>
      )}
    </>
  );
}

function moveFocus(box: HTMLElement | null, event: KeyboardEvent): void {
  const buttons = [...(box?.querySelectorAll('button') ?? [])];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  if (at < 0) return;
  const step = STEPS[event.key];
  const aim =
    event.key === 'Home' ? 0 : event.key === 'End' ? buttons.length - 1 : step === undefined ? null : at + step;
  if (aim === null) return;
  event.preventDefault();
  buttons[Math.max(0, Math.min(buttons.length - 1, aim))]?.focus();
}

function grouped(items: readonly TimelineItem[], label: (item: TimelineItem) => string) {
  const groups = new Map<string, TimelineItem[]>();
  for (const item of items) {
    const key = label(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups];
}

const HOUR = 3_600_000;

function labelOf(
  { scheduledAt }: TimelineItem,
  { span, zone }: { readonly span: Span; readonly zone: string },
): string {
  if (span.ms < HOUR) return clockText(scheduledAt, zone).slice(0, 5);
  if (span.ms <= 24 * HOUR) return `${hourText(scheduledAt, zone).slice(0, 2)}:00`;
  return dayText(scheduledAt, zone);
}
