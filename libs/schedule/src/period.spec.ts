import { describe, expect, it } from 'vitest';
import { shortestPeriod } from './period.js';
import { readExpression } from './read-expression.js';

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

describe('the shortest period', () => {
  it.each([
    ['* * * * * *', 1],
    ['*/7 * * * * *', 4],
    ['10,50 * * * * *', 20],
    ['30 * * * * *', MINUTE],
    ['*/25 * * * *', 10 * MINUTE],
    ['0,59 * * * *', MINUTE],
    ['0 9-17 * * *', HOUR],
    ['0 0,23 * * *', HOUR],
    ['0 3,15 * * *', 12 * HOUR],
    ['55 23,1 * * *', 2 * HOUR],
    ['0 3 * * *', DAY],
    ['0 3 * * MON,THU', 3 * DAY],
    ['0 3 * * 1', 7 * DAY],
    ['0 3 1 * *', 28 * DAY],
    ['0 3 1,31 * *', DAY],
    ['0 0,23 1,3 * *', 23 * HOUR],
    ['0 3 29 2 *', 1_461 * DAY],
    ['0 3 L * 1', DAY],
    ['0 3 * * MON#1', 28 * DAY],
  ])('of %j is %d s', (expression, seconds) => {
    expect(shortestPeriod(readExpression(expression, 'a-cron').clock)).toBe(seconds);
  });

  it('is only looked for as far as somebody needs it', () => {
    const { clock } = readExpression('0 3 29 2 *', 'a-cron');
    expect(shortestPeriod(clock, DAY)).toBe(DAY);
    expect(shortestPeriod(clock, DAY + 1)).toBe(1_461 * DAY);
  });
});
