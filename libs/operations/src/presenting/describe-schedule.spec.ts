import { describe, expect, it } from 'vitest';
import { describeSchedule } from './describe-schedule.js';

describe('a schedule in words', () => {
  it.each([
    ['* * * * * *', 'every second in UTC'],
    ['*/15 * * * * *', 'every 15 seconds in UTC'],
    ['* * * * *', 'every minute in UTC'],
    ['*/5 * * * *', 'every 5 minutes in UTC'],
    ['7 * * * *', 'every hour at minute 7 in UTC'],
    ['0 */6 * * *', 'every 6 hours at minute 0 in UTC'],
    ['30 2 * * *', 'every day at 02:30 in UTC'],
    ['0 9 * * 1-5', 'from Monday to Friday at 09:00 in UTC'],
    ['0 9 * * MON', 'every Monday at 09:00 in UTC'],
    ['0 9 * * 7', 'every Sunday at 09:00 in UTC'],
    ['0 0 1 * *', 'on day 1 of every month at 00:00 in UTC'],
    ['0 0 24 12 *', 'every year on 24 December at 00:00 in UTC'],
    ['@daily', 'every day at 00:00 in UTC'],
    ['@manual', 'when somebody asks for it'],
  ])('%s: %s', (expression, words) => {
    expect(describeSchedule({ expression, timeZone: 'UTC' })).toBe(words);
  });

  it.each([
    ...['*/7 * * * *', '*/50 * * * * *', '0 */5 * * *', '0,30 * * * *', '0 9 1 * 1', 'H H * * *', '5 0 3 * * *'],
    ...['0 9 L * *', '0 9 * * 1#2', '0 9 * * 1,3', '0 9-17 * * *', '0 0 1 JAN *', '30 * 1 * *', '0 25 * * *'],
  ])('is the expression itself where words would be long or nearly right: %s', (expression) => {
    expect(describeSchedule({ expression, timeZone: 'Europe/Berlin' })).toBe(`"${expression}" in Europe/Berlin`);
  });

  it('says that it is spread', () => {
    const words = describeSchedule({ expression: '0 3 * * *', timeZone: 'UTC', spreadMs: 60_000 });
    expect(words).toBe('every day at 03:00 in UTC, spread over some time');
  });
});
