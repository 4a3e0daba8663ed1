import { expect, it } from 'vitest';
import { definitionOf, START } from '../../../../test/support/audit-history.js';
import { scheduleOf } from './scheduled.js';

const HOURLY = { expression: 'H * * * *', spreadMs: 3_600_000 };

it('a schedule is read once for equal definitions', () => {
  expect(scheduleOf(definitionOf(HOURLY), START)).toBe(scheduleOf(definitionOf(HOURLY), START));
});

it.each([
  { name: 'other' },
  { expression: '5 * * * *' },
  { timeZone: 'Asia/Kolkata' },
  { spreadMs: 60_000 },
  { dst: { gap: 'skip', repeat: 'first' } as const },
])('that of a cron with another %j is another one', (over) => {
  expect(scheduleOf(definitionOf({ ...HOURLY, ...over }), START)).not.toBe(scheduleOf(definitionOf(HOURLY), START));
});

it('crons of the same expression are put off as their names say', () => {
  const names = Array.from(
    { length: 20 },
    (_, n) => scheduleOf(definitionOf({ ...HOURLY, name: `c${n}` }), START).spreadMs,
  );
  expect(new Set(names).size).toBe(20);
});
