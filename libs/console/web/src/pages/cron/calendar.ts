import type { Outcome, TimelineItem } from '../../data/types.js';
import { WORDS } from '../../words.js';

/** How instants are laid out: what a row is, and what a column of it. */
export type CalendarView = 'minute' | 'hour' | 'day' | 'month';

/** What came of the instants in one place of the calendar. */
export interface Cell {
  readonly column: number;
  readonly items: readonly TimelineItem[];
  /** The one that matters most. */
  readonly outcome: Outcome;
  /** Somebody asked for it; of several, for all of them. */
  readonly asked: TimelineItem['asked'];
  readonly count: number;
}

export interface CalendarRow {
  readonly key: string;
  readonly label: string;
  readonly cells: readonly Cell[];
  /** How many instants in all, those to come left out. */
  readonly total: number;
  /** The clocks of the zone change within it. */
  readonly clockChange: boolean;
  /** The column that now is in; `null` where it is in another row. */
  readonly now: number | null;
}

export interface Calendar {
  readonly view: CalendarView;
  /** What the columns are called, an empty text for those between two labels. */
  readonly axis: readonly string[];
  readonly rows: readonly CalendarRow[];
}

interface Span {
  readonly from: string;
  readonly to: string;
}

interface Local {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

interface Layout {
  readonly columns: number;
  /** Real time between two rows, at the most: a row without instants is shown as well. */
  readonly stepMs: number;
  readonly column: (at: Local) => number;
  readonly row: (at: Local, offset: number) => string;
  readonly label: (at: Local) => string;
  readonly axis: (column: number) => string;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const { months: MONTHS, days: DAYS } = WORDS.time;

const two = (n: number) => String(n).padStart(2, '0');
const every =
  (n: number, from = 0) =>
  (column: number) =>
    column % n === 0 ? two(column + from) : '';
const dayOf = ({ year, month, day }: Local) => `${year}-${two(month)}-${two(day)}`;
const weekday = ({ year, month, day }: Local) => DAYS[new Date(Date.UTC(year, month - 1, day)).getUTCDay()];

const LAYOUTS: Readonly<Record<CalendarView, Layout>> = {
  minute: {
    ...{ columns: 60, stepMs: MINUTE, column: ({ second }) => second, axis: every(5) },
    row: (at, offset) => `${dayOf(at)} ${two(at.hour)}:${two(at.minute)} ${offset}`,
    label: ({ hour, minute }) => `${two(hour)}:${two(minute)}`,
  },
  hour: {
    ...{ columns: 60, stepMs: HOUR / 2, column: ({ minute }) => minute, axis: every(5) },
    // An hour that comes twice is two rows.
    row: (at, offset) => `${dayOf(at)} ${two(at.hour)} ${offset}`,
    label: (at) => (at.hour === 0 ? `${weekday(at)} ${at.day} ${two(at.hour)}:00` : `${two(at.hour)}:00`),
  },
  day: {
    ...{ columns: 24, stepMs: 12 * HOUR, column: ({ hour }) => hour, axis: every(3) },
    row: dayOf,
    label: (at) => `${weekday(at)} ${at.day} ${MONTHS[at.month - 1]}`,
  },
  month: {
    ...{ columns: 31, stepMs: 24 * HOUR, column: ({ day }) => day - 1, axis: (column) => String(column + 1) },
    row: ({ year, month }) => `${year}-${two(month)}`,
    label: ({ year, month }) => `${MONTHS[month - 1]} ${year}`,
  },
};

/**
 * Instants by the clocks of a zone. Rows without instants are there too, so that a gap is seen as one, and each instant stands
 * in the column of its time.
 */
export function calendarOf(
  items: readonly TimelineItem[],
  asked: { readonly view: CalendarView; readonly span: Span; readonly zone: string; readonly now: number },
): Calendar {
  const layout = LAYOUTS[asked.view];
  const clock = new Clock(asked.zone);
  const rows = rowsOf(asked.span, layout, clock);
  for (const item of items) {
    const at = Date.parse(item.scheduledAt);
    rows.get(layout.row(clock.at(at), clock.offset(at)))?.add(layout.column(clock.at(at)), item);
  }
  const nowIn = {
    key: layout.row(clock.at(asked.now), clock.offset(asked.now)),
    column: layout.column(clock.at(asked.now)),
  };
  return {
    view: asked.view,
    axis: Array.from({ length: layout.columns }, (_, column) => layout.axis(column)),
    rows: [...rows].map(([key, row]) => row.shown(key, key === nowIn.key ? nowIn.column : null)),
  };
}

function rowsOf({ from, to }: Span, layout: Layout, clock: Clock): Map<string, Row> {
  const rows = new Map<string, Row>();
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  for (let at = begin; at < end; at += Math.min(layout.stepMs, Math.max(1, end - 1 - at))) {
    const [local, offset] = [clock.at(at), clock.offset(at)];
    const key = layout.row(local, offset);
    const row = rows.get(key) ?? new Row(layout.label(local), offset);
    rows.set(key, row);
    row.note(offset);
    if (at === end - 1) break;
  }
  markChanges([...rows.values()]);
  return rows;
}

/** Where rows are as short as an hour, the change is between two of them, and the later one bears it. */
function markChanges(rows: readonly Row[]): void {
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1];
    if (before && before.last !== row.first) row.note(NaN);
  }
}

class Row {
  readonly #cells = new Map<number, TimelineItem[]>();
  #changes = false;
  last: number;

  constructor(
    private readonly label: string,
    readonly first: number,
  ) {
    this.last = first;
  }

  add(column: number, item: TimelineItem): void {
    this.#cells.set(column, [...(this.#cells.get(column) ?? []), item]);
  }

  /** An offset that it is seen with; one that is none marks it as well. */
  note(offset: number): void {
    if (offset !== this.last) this.#changes = true;
    if (!Number.isNaN(offset)) this.last = offset;
  }

  shown(key: string, now: number | null): CalendarRow {
    const cells = [...this.#cells]
      .map(([column, items]) => cellOf(column, items))
      .toSorted((a, b) => a.column - b.column);
    const past = cells.flatMap(({ items }) => items).filter(({ outcome }) => outcome !== 'ahead');
    const total = past.reduce((sum, { count }) => sum + count, 0);
    return { key, label: this.label, cells, total, clockChange: this.#changes, now };
  }
}

/** What a person has to see first. */
const WORST: readonly Outcome[] = [
  ...(['uncertain', 'failed', 'missed', 'late', 'retried', 'running', 'waiting'] as const),
  ...(['cancelled', 'skipped', 'merged', 'ran', 'ahead'] as const),
];

function cellOf(column: number, items: readonly TimelineItem[]): Cell {
  const outcome = WORST.find((one) => items.some((item) => item.outcome === one)) ?? 'ran';
  const asked = items.every((item) => item.asked !== null) ? (items[0]?.asked ?? null) : null;
  return { column, items, outcome, asked, count: items.reduce((sum, { count }) => sum + count, 0) };
}

/** What the clocks of a zone show; one that the browser does not know is taken for UTC. */
class Clock {
  readonly #format: Intl.DateTimeFormat;
  #last: readonly [at: number, local: Local] | null = null;

  constructor(zone: string) {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    const options = { ...parts, second: 'numeric', hourCycle: 'h23' } as const;
    try {
      this.#format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone });
    } catch {
      this.#format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
    }
  }

  at(ms: number): Local {
    if (this.#last?.[0] === ms) return this.#last[1];
    const parts = Object.fromEntries(this.#format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const local = parts as unknown as Local;
    this.#last = [ms, local];
    return local;
  }

  /** Minutes ahead of UTC. */
  offset(ms: number): number {
    const { year, month, day, hour, minute, second } = this.at(ms);
    return Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - ms) / MINUTE);
  }
}
