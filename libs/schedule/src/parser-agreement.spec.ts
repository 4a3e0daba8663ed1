import { CronExpressionParser } from 'cron-parser';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSchedule, ScheduleError } from './schedule.js';
import { anyExpression, PATIENCE_MS } from '../../../test/schedule/random-expression.js';
import { atMost } from '../../../test/support/run-length.js';
import { changesOf, FIRST, LAST, ZONES } from '../../../test/schedule/zones.js';

const DAY = 86_400_000;

/** The instants after `start`, as long as no change of the clocks is near: there the parser has answers of its own. */
function expectTheSame(expression: string, timeZone: string, start: number): void {
  let schedule;
  try {
    schedule = parseSchedule({ expression, timeZone, seed: 'a-cron' }, start);
  } catch (error) {
    if (error instanceof ScheduleError) return;
    throw error;
  }
  const theirs = CronExpressionParser.parse(expression, {
    tz: timeZone,
    currentDate: new Date(start),
    hashSeed: 'a-cron',
  });
  for (let n = 0, at = start; n < 12; n += 1) {
    const next = schedule.next(at);
    const expected = theirs.next().getTime();
    if (changesOf(timeZone, at - 2 * DAY, Math.max(next ?? at, expected) + 2 * DAY).length > 0) return;
    expect([expression, timeZone, next]).toEqual([expression, timeZone, expected]);
    at = expected;
  }
}

const texts = fc.oneof(
  { weight: 5, arbitrary: anyExpression.map(({ text }) => text) },
  fc.constantFrom(
    ...['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@hourly', '@minutely', '@secondly', '@weekdays'],
    ...['@weekends', 'H H * * *', 'H(0-29)/10 * * * *', 'H/15 * * * *', 'H H H * *', '0 9 * * H', '0 9 1,L JAN-jun *'],
    ...['0 9 ? * MON#1', '0 9 L * FRI', '0 9 * * 7L', '0 9 * * SUN#5', '5/20 3 * * *', '0 0 29 2 *', '0 0 31 * 1'],
  ),
);

describe('where clocks do not change', { timeout: PATIENCE_MS }, () => {
  it('the instants are those of cron-parser', () => {
    const start = fc.integer({ min: FIRST, max: LAST });
    const property = fc.property(texts, fc.oneof(fc.constant('UTC'), fc.constantFrom(...ZONES)), start, expectTheSame);
    fc.assert(property, atMost(800));
  });
});
