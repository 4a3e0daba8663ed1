import { describe, expect, it } from 'vitest';
import { type DstRule, parseSchedule } from '@fencepost/schedule';

interface Case {
  readonly name: string;
  readonly expression: string;
  readonly timeZone?: string;
  readonly dst?: Partial<DstRule>;
  /** Both in UTC, `[from, to)`. */
  readonly from: string;
  readonly to: string;
  readonly instants: readonly string[];
}

const NEW_YORK = 'America/New_York';
const LORD_HOWE = 'Australia/Lord_Howe';
const [GAP, REPEAT] = [
  { from: '2025-03-09T05:00', to: '2025-03-10T05:00' },
  { from: '2025-11-02T04:00', to: '2025-11-03T05:00' },
];

/** Cases on which cron libraries give each other the lie, and what is said here. New York where no zone stands. */
const CASES: readonly Case[] = [
  {
    name: 'a fixed time in the gap comes at its end',
    expression: '30 2 * * *',
    ...GAP,
    instants: ['2025-03-09T07:00'],
  },
  { name: 'an interval within the gap does not come that day', expression: '*/20 2 * * *', ...GAP, instants: [] },
  {
    name: 'an interval over the gap has only what exists',
    expression: '30 2-3 * * *',
    ...GAP,
    instants: ['2025-03-09T07:30'],
  },
  {
    name: 'a fixed time at the end of the gap is not doubled by it',
    expression: '0 3 * * *',
    ...GAP,
    instants: ['2025-03-09T07:00'],
  },
  {
    name: 'a fixed time in the gap is left out when told so',
    expression: '30 2 * * *',
    dst: { gap: 'skip' },
    ...GAP,
    instants: [],
  },
  {
    name: 'a fixed time in the gap is shifted when told so',
    expression: '30 2 * * *',
    dst: { gap: 'shift' },
    ...GAP,
    instants: ['2025-03-09T07:30'],
  },
  {
    name: 'a fixed time that comes twice is taken the first time',
    expression: '30 1 * * *',
    ...REPEAT,
    instants: ['2025-11-02T05:30'],
  },
  {
    name: 'it is not produced again for who asks inside the second copy',
    expression: '30 1 * * *',
    from: '2025-11-02T06:00',
    to: '2025-11-04T05:00',
    instants: ['2025-11-03T06:30'],
  },
  {
    name: 'a fixed time that comes twice is taken the last time when told so',
    expression: '30 1 * * *',
    dst: { repeat: 'last' },
    ...REPEAT,
    instants: ['2025-11-02T06:30'],
  },
  {
    name: 'the last copy is not the first for who looks back from between them',
    expression: '30 1 * * *',
    dst: { repeat: 'last' },
    from: '2025-11-01T05:00',
    to: '2025-11-02T05:45',
    instants: ['2025-11-01T05:30'],
  },
  {
    name: 'a fixed time that comes twice is taken twice when told so',
    expression: '30 1 * * *',
    dst: { repeat: 'both' },
    ...REPEAT,
    instants: ['2025-11-02T05:30', '2025-11-02T06:30'],
  },
  {
    name: 'an interval runs through the repeated hour',
    expression: '*/15 * * * *',
    from: '2025-11-02T05:30',
    to: '2025-11-02T07:15',
    instants: ['05:30', '05:45', '06:00', '06:15', '06:30', '06:45', '07:00'].map((time) => `2025-11-02T${time}`),
  },
  {
    name: 'an interval within the repeated hour has both copies',
    expression: '*/30 1 * * *',
    ...REPEAT,
    instants: ['05:00', '05:30', '06:00', '06:30'].map((time) => `2025-11-02T${time}`),
  },
  {
    name: 'an interval of one day in the year has the second copy for who asks in the first',
    expression: '0,1 1 2 11 *',
    from: '2025-11-02T05:30',
    to: '2025-11-02T07:00',
    instants: ['2025-11-02T06:00', '2025-11-02T06:01'],
  },
  {
    name: 'an interval of one day in the year has the first copy for who looks back from the second',
    expression: '30,31 1 2 11 *',
    from: '2025-11-02T04:00',
    to: '2025-11-02T06:05',
    instants: ['2025-11-02T05:30', '2025-11-02T05:31'],
  },
  {
    name: 'a gap of half an hour swallows no more than that',
    expression: '15 2 * * *',
    timeZone: LORD_HOWE,
    from: '2026-10-03T13:00',
    to: '2026-10-04T15:00',
    instants: ['2026-10-03T15:30'],
  },
  {
    name: 'a repeat of half an hour is run through, and time never goes back',
    expression: '*/10 * * * *',
    timeZone: LORD_HOWE,
    from: '2026-04-04T14:30',
    to: '2026-04-04T15:40',
    instants: ['14:30', '14:40', '14:50', '15:00', '15:10', '15:20', '15:30'].map((time) => `2026-04-04T${time}`),
  },
  {
    name: 'a fixed time on a day that was left out comes as the next day begins',
    expression: '0 9 30 12 *',
    timeZone: 'Pacific/Apia',
    from: '2011-01-01T00:00',
    to: '2012-12-01T00:00',
    instants: ['2011-12-30T10:00'],
  },
  {
    name: 'an interval has nothing on a day that was left out',
    expression: '0 */12 30 12 *',
    timeZone: 'Pacific/Apia',
    from: '2011-12-28T00:00',
    to: '2012-12-30T00:00',
    instants: ['2012-12-29T10:00', '2012-12-29T22:00'],
  },
  {
    name: 'a midnight that does not exist comes at one o’clock',
    expression: '0 0 * * *',
    timeZone: 'America/Santiago',
    from: '2026-09-05T04:00',
    to: '2026-09-07T04:00',
    instants: ['2026-09-05T04:00', '2026-09-06T04:00', '2026-09-07T03:00'],
  },
  {
    name: 'a nightly report in Berlin comes every night in March',
    expression: '30 2 * * *',
    timeZone: 'Europe/Berlin',
    from: '2026-03-28T00:00',
    to: '2026-03-31T00:00',
    instants: ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
  },
  {
    name: 'a nightly report in Berlin comes once a night in October',
    expression: '30 2 * * *',
    timeZone: 'Europe/Berlin',
    from: '2026-10-24T00:00',
    to: '2026-10-27T00:00',
    instants: ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
  },
  {
    name: 'a fixed time in a gap of two hours comes at its end',
    expression: '0 2 * * *',
    timeZone: 'Antarctica/Troll',
    from: '2026-03-28T03:00',
    to: '2026-03-30T03:00',
    instants: ['2026-03-29T01:00', '2026-03-30T00:00'],
  },
  {
    name: 'a range of one value is an interval, as it is no plain number',
    expression: '30 2-2 * * *',
    ...GAP,
    instants: [],
  },
];

describe('where clocks change', () => {
  it.each(CASES.map((one) => [one.name, one] as const))(
    '%s',
    (_, { expression, timeZone = NEW_YORK, dst = {}, from, to, instants }) => {
      const [first, last] = [Date.parse(`${from}Z`), Date.parse(`${to}Z`)];
      const schedule = parseSchedule({ expression, timeZone, seed: 'a-cron', dst }, first);
      const shown = (found: readonly number[]) => found.map((at) => new Date(at).toISOString().slice(0, 16));
      expect(shown([...schedule.between(first, last)])).toEqual(instants);
      const backwards: number[] = [];
      for (let at = schedule.previous(last); at !== null && at >= first; at = schedule.previous(at))
        backwards.unshift(at);
      expect(shown(backwards)).toEqual(instants);
    },
  );
});
