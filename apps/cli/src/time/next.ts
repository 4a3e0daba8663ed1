import { parseSchedule, type ScheduleText } from '../jobs.js';
import { iso, shortIso, type Report } from '../report.js';
import { EXIT } from '../exit.js';
import { hanging, table } from '../table.js';
import { touchedTimes, type TouchedTime, localTime, timeOfDay, wallTime } from './clock-changes.js';

export interface NextQuestion {
  readonly schedule: ScheduleText;
  /** The first instant that counts, epoch milliseconds. */
  readonly from: number;
  readonly count: number;
}

/** The first copy of a repeated time lies before the change, the second after it: no further than clocks ever move. */
const NEARBY_MS = 32 * 3_600_000;

/** The next instants of an expression, and what changes of the clocks have to do with them. */
export function next({ schedule: text, from, count }: NextQuestion): Report {
  const schedule = parseSchedule(text, from);
  const instants: number[] = [];
  for (let at = schedule.next(from - 1); at !== null && instants.length < count; at = schedule.next(at)) {
    instants.push(at);
  }
  const last = instants.at(-1) ?? from;
  const touched = [...touchedTimes(text, from - NEARBY_MS, last + NEARBY_MS)];
  const within = touched.filter(({ changeAt }) => changeAt >= from && changeAt <= last);
  return {
    code: EXIT.ok,
    json: instants.map((at) => iso(at)),
    text: (width) => [
      ...table(lines(text, schedule.spreadMs, { instants, touched }), width),
      ...leftOut(within).flatMap((line) => hanging(line, width)),
    ],
  };
}

interface Found {
  readonly instants: readonly number[];
  readonly touched: readonly TouchedTime[];
}

function lines({ timeZone }: ScheduleText, spreadMs: number, { instants, touched }: Found): string[][] {
  const marks = new Map(touched.flatMap((time) => time.instants.map((at) => [at, mark(time, at)] as const)));
  const due = (at: number) => (spreadMs === 0 ? [] : [iso(at + spreadMs)]);
  const rows = instants.map((at) => {
    const { text, offset } = localTime(at, timeZone);
    return [text, offset, shortIso(at), ...due(at), marks.get(at) ?? ''];
  });
  return [[timeZone, 'offset', 'UTC', ...(spreadMs === 0 ? [] : ['due']), ''], ...rows];
}

function mark({ kind, wall, instants }: TouchedTime, at: number): string {
  if (kind === 'gap') return `clocks go forward: for ${timeOfDay(wall)}, which does not exist`;
  const time = timeOfDay(wall);
  if (instants.length > 1)
    return `clocks go back: ${time} comes twice, ${at === instants[0] ? 'the first' : 'the second'}`;
  return `clocks go back: ${time} comes twice, and fires once`;
}

/** Times that have no line to stand on. */
function leftOut(touched: readonly TouchedTime[]): string[] {
  const times = touched.filter(({ instants }) => instants.length === 0);
  const [first] = times;
  if (first === undefined) return [];
  const more = times.length === 1 ? '' : `, nor do ${times.length - 1} later ones`;
  return ['', `Clocks go forward: ${wallTime(first.wall)} does not exist${more}, and nothing fires for it.`];
}
