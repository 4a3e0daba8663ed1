import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import type { TimelineItem } from '../../data/types.js';
import { shownZone } from '../../time/zones.js';
import { WORDS } from '../../words.js';
import type { Calendar, CalendarRow, Cell } from './calendar.js';
import { Marker } from './marker.js';
import { lineOf } from './outcomes.js';

const { cron: words } = WORDS;

interface GridProps {
  readonly calendar: Calendar;
  readonly asked: string | null;
  readonly ask: (instant: string) => void;
  readonly zone: string;
}

/** One stop of the tab key for all marks; arrows go from one to the next. */
export function CalendarGrid({ calendar, asked, ask, zone: own }: GridProps) {
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<Cell | null>(null);
  const zone = shownZone(own);
  const cells = calendar.rows.flatMap((row) => row.cells);
  const chosen = cells.find(({ items }) => items.some(({ scheduledAt }) => scheduledAt === asked));
  const stop = chosen ?? cells.findLast(({ outcome }) => outcome !== 'ahead') ?? cells[0];
  const choose = (cell: Cell) => {
    setOpen(cell);
    const [only] = cell.items;
    if (cell.items.length === 1 && only) ask(only.scheduledAt);
  };
  const item = chosen?.items.find(({ scheduledAt }) => scheduledAt === asked);
  return (
    <>
      <div
        ref={box}
        class={`calendar ${calendar.view}`}
        role="group"
        aria-label={words.grid}
        onKeyDown={(event) => moveFocus(box.current, event)}
      >
        <Axis calendar={calendar} />
        {calendar.rows.map((row) => (
          <Row key={row.key} {...{ row, zone, stop, chosen, choose }} />
        ))}
      </div>
      <div class="chosen" aria-live="polite">
        {open && open.items.length > 1 ? <Several cell={open} {...{ zone, ask }} /> : null}
        <p>{item ? <Chosen item={item} line={lineOf(item, zone)} /> : words.select}</p>
      </div>
    </>
  );
}

function Axis({ calendar: { axis } }: Pick<GridProps, 'calendar'>) {
  return (
    <div class="calendar-row axis" aria-hidden="true">
      <span class="calendar-label" />
      <span class="calendar-cells">
        {axis.map((label, column) => (label === '' ? null : <Placed key={column} column={column} text={label} />))}
      </span>
      <span class="calendar-total" />
    </div>
  );
}

/** Set by script, one property at a time, which the policy of the page allows. */
function placeOf(column: number) {
  return { gridColumnStart: String(column + 1) };
}

function Placed({ column, text }: { readonly column: number; readonly text: string }) {
  return (
    <small class="quiet" style={placeOf(column)}>
      {text}
    </small>
  );
}

interface RowProps {
  readonly row: CalendarRow;
  readonly zone: string;
  readonly stop: Cell | undefined;
  readonly chosen: Cell | undefined;
  readonly choose: (cell: Cell) => void;
}

function Row({ row: { label, cells, total, clockChange, now }, zone, stop, chosen, choose }: RowProps) {
  return (
    <div class={`calendar-row ${clockChange ? 'clock-change' : ''} ${now === null ? '' : 'has-now'}`}>
      <span class="calendar-label">
        {label} {clockChange ? <small class="badge warn">{words.clockChange}</small> : null}
      </span>
      <span class="calendar-cells">
        {now === null ? null : <Now column={now} />}
        {cells.map((cell) => (
          <CellButton key={cell.column} {...{ cell, zone, choose }} stop={cell === stop} chosen={cell === chosen} />
        ))}
      </span>
      <span class="calendar-total quiet" title={words.totalTitle(total)}>
        {total === 0 ? '' : words.total(total)}
      </span>
    </div>
  );
}

function Now({ column }: { readonly column: number }) {
  return <span class="now-line" title={words.nowMark} style={placeOf(column)} />;
}

interface CellProps {
  readonly cell: Cell;
  readonly zone: string;
  readonly stop: boolean;
  readonly chosen: boolean;
  readonly choose: (cell: Cell) => void;
}

function CellButton({ cell, zone, stop, chosen, choose }: CellProps) {
  const { column, outcome, asked, count } = cell;
  const line = textOf(cell, zone);
  return (
    <button
      type="button"
      class="mark-button"
      title={line}
      aria-pressed={chosen}
      tabIndex={stop ? 0 : -1}
      style={placeOf(column)}
      onClick={() => choose(cell)}
    >
      <Marker {...{ outcome, asked }} />
      <span class="hidden">{line}</span>
      {count > 1 ? <small aria-hidden="true">{count}</small> : null}
    </button>
  );
}

/** Of several: how many of each outcome. */
function textOf({ items, count }: Cell, zone: string): string {
  const [first] = items;
  if (!first) return '';
  if (items.length === 1) return lineOf(first, zone);
  const counts = new Map<string, number>();
  for (const { outcome, count: some } of items) counts.set(outcome, (counts.get(outcome) ?? 0) + some);
  return `${count}: ${[...counts].map(([outcome, n]) => `${outcome} ${n}`).join(', ')}`;
}

const MAX_LISTED = 50;

interface SeveralProps {
  readonly cell: Cell;
  readonly zone: string;
  readonly ask: (instant: string) => void;
}

function Several({ cell, zone, ask }: SeveralProps) {
  return (
    <ul class="plain-list several" aria-label={textOf(cell, zone)} tabIndex={0}>
      {cell.items.slice(0, MAX_LISTED).map((item) => (
        <li key={item.scheduledAt + (item.runId ?? '')}>
          <button type="button" class="plain" onClick={() => ask(item.scheduledAt)}>
            {lineOf(item, zone)}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Chosen({ item: { runId }, line }: { readonly item: TimelineItem; readonly line: string }) {
  return (
    <>
      {line}
      {runId === null ? null : (
        <>
          {' · '}
          <Link href={to.run(runId)}>{words.openRun}</Link>
        </>
      )}
    </>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -10, ArrowDown: 10 };

function moveFocus(box: HTMLElement | null, event: KeyboardEvent): void {
  const buttons = [...(box?.querySelectorAll('button') ?? [])];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const step = STEPS[event.key];
  const aim =
    event.key === 'Home' ? 0 : event.key === 'End' ? buttons.length - 1 : step === undefined ? null : at + step;
  if (at < 0 || aim === null) return;
  event.preventDefault();
  buttons[Math.max(0, Math.min(buttons.length - 1, aim))]?.focus();
}
