import { zoneNamed } from '@fencepost/schedule';
import { OperatorInputError } from '@fencepost/ledger';

/** What somebody asks about. */
export type When =
  | { readonly kind: 'instant'; readonly at: number }
  /** A time on the clocks of the cron's zone: milliseconds written as if they were UTC. */
  | { readonly kind: 'local'; readonly wall: number }
  | { readonly kind: 'now' }
  /** The last instant that has come. */
  | { readonly kind: 'last' };

const ISO = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;
const LOCAL = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d)?$/;
const EXPECTED =
  'an instant such as 2026-03-29T00:30:00Z, a local time of the zone of the cron such as "2026-03-29 02:30", "now" or "last"';

/**
 * @param asked as a person writes it, or epoch milliseconds
 * @throws {OperatorInputError}
 */
export function readWhen(asked: string | number): When {
  if (typeof asked === 'number') {
    if (Number.isSafeInteger(asked) && asked >= 0 && asked <= LAST_MS) return { kind: 'instant', at: asked };
    throw OperatorInputError.of('the time', EXPECTED, asked);
  }
  const text = asked.trim();
  if (text === 'now' || text === 'last') return { kind: text };
  // What stands in the id of a run.
  if (/^\d{12,14}$/.test(text)) return { kind: 'instant', at: Number(text) };
  const found = readIso(text) ?? readLocal(text);
  if (found) return found;
  throw OperatorInputError.of('the time', EXPECTED, asked);
}

const LAST_MS = 8e15;

function readIso(text: string): When | null {
  const [, date] = ISO.exec(text) ?? [];
  const at = date === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) || !isDay(date) ? null : { kind: 'instant', at };
}

function readLocal(text: string): When | null {
  const [, date, minutes, seconds = ':00'] = LOCAL.exec(text) ?? [];
  const wall = date === undefined ? Number.NaN : Date.parse(`${date}T${minutes}${seconds}Z`);
  return Number.isNaN(wall) || !isDay(date) ? null : { kind: 'local', wall };
}

/** `Date` takes the 30th of February for the 2nd of March. */
function isDay(date: string | undefined): boolean {
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(`${date}T`);
}

/** A local time in a zone, all in milliseconds. */
export interface LocalTime {
  readonly wall: number;
  /** When clocks show it: mostly once, twice where they go back, never where they go forward over it. */
  readonly instants: readonly number[];
  /** Where they go forward over it: when, and what they show before and after. */
  readonly gap: { readonly at: number; readonly from: number; readonly to: number } | null;
}

export function localTime(wall: number, timeZone: string): LocalTime {
  const { instants, gap } = zoneNamed(timeZone).read(Math.floor(wall / 1_000));
  return {
    wall,
    instants: instants.map((at) => at * 1_000),
    gap: gap && {
      at: gap.start * 1_000,
      from: (gap.start + gap.before) * 1_000,
      to: (gap.start + gap.offset) * 1_000,
    },
  };
}
