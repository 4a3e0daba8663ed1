import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { LineLimiter } from './line-limiter.js';
import { logLine } from './log-line.js';

interface Written {
  readonly level: string;
  readonly cron: unknown;
  readonly n: unknown;
  readonly omitted: number;
  readonly omittedOfOthers: number;
  readonly at: number;
}

let clock: ManualClock;
let limiter: LineLimiter;
let written: Written[];
let built: number;

beforeEach(() => {
  [clock, written, built] = [new ManualClock(), [], 0];
  limiter = new LineLimiter({
    clock,
    write: (level, { fields: { cron, n } }, { omitted, omittedOfOthers }) =>
      void written.push({ level, cron, n, omitted, omittedOfOthers, at: clock.monotonic() }),
  });
});

function offer(level: 'warn' | 'error', cron: string, n = 0): void {
  const event = 'attempt.failed';
  limiter.offer({ event, level, subject: cron }, () => {
    built += 1;
    return logLine(event, { cron, n });
  });
}

function offerMany(level: 'warn' | 'error', crons: number): void {
  for (let n = 0; n < crons; n += 1) offer(level, `cron ${n}`, n);
}

/** Lines written, plus the lines they report as left out. */
function accounted(): number {
  return written.reduce((sum, { omitted, omittedOfOthers }) => sum + 1 + omitted + omittedOfOthers, 0);
}

describe('LineLimiter', () => {
  it('writes five lines about a subject at once, and leaves the others out', () => {
    for (let n = 0; n < 100; n += 1) offer('warn', 'a', n);
    expect(written.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4]);
    offer('warn', 'b');
    expect(written.at(-1)).toMatchObject({ cron: 'b', omitted: 0 });
  });

  it('tells how many were left out with the next line of the subject', async () => {
    for (let n = 0; n < 124; n += 1) offer('warn', 'a', n);
    await clock.advance(59_900);
    expect(written).toHaveLength(5);
    await clock.advance(99);
    limiter.stop();
    expect(written.at(-1)).toMatchObject({ n: 5, omitted: 118 });
  });

  it('replaces a held line by a newer line that the rate allows', async () => {
    const reached = 60_001;
    for (let n = 0; n < 10; n += 1) offer('warn', 'a', n);
    // Between two looks of the timer.
    await clock.advance(500);
    for (let n = 0; n < 10; n += 1) offer('warn', 'b', n);
    await clock.advance(reached - 500);
    expect(written.filter(({ cron }) => cron === 'a').at(-1)).toMatchObject({ n: 5, omitted: 4, at: 60_000 });
    offer('warn', 'b', 99);
    expect(written.at(-1)).toMatchObject({ cron: 'a' });
    await clock.advance(500);
    offer('warn', 'b', 100);
    expect(written.at(-1)).toMatchObject({ cron: 'b', n: 100, omitted: 6 });
    await clock.advance(300_000);
    expect(written).toHaveLength(12);
  });

  it('hides an error for ten seconds at most, and a warning for a minute', async () => {
    for (let n = 0; n < 6; n += 1) offer('error', 'a', n);
    for (let n = 0; n < 6; n += 1) offer('warn', 'a', n);
    await clock.advance(10_000);
    expect(written.at(-1)).toMatchObject({ level: 'error', n: 5, omitted: 0, at: 10_000 });
    await clock.advance(50_000);
    expect(written.at(-1)).toMatchObject({ level: 'warn', n: 5, omitted: 0, at: 60_000 });
    expect(clock.pending).toBe(0);
  });

  it('writes at most one error per ten seconds and one warning per minute about a lasting cause', async () => {
    for (let second = 0; second < 3_600; second += 1) {
      offer('error', 'a', second);
      offer('warn', 'a', second);
      await clock.advance(1_000);
    }
    const count = (of: string) => written.filter(({ level }) => level === of).length;
    expect(count('error')).toBeGreaterThan(355);
    expect(count('error')).toBeLessThanOrEqual(365);
    expect(count('warn')).toBeLessThanOrEqual(65);
    await clock.advance(60_000);
    expect(accounted()).toBe(7_200);
  });

  it('writes fifty lines of an event at once, then one per second, for any number of crons', async () => {
    offerMany('error', 150);
    expect(written).toHaveLength(50);
    await clock.advance(10_000);
    expect(written).toHaveLength(60);
    await clock.advance(90_000);
    expect(written.map(({ cron }) => cron)).toEqual(Array.from({ length: 150 }, (_, n) => `cron ${n}`));
    expect(clock.pending).toBe(0);
  });

  it('writes held lines in their order while new lines keep coming', async () => {
    offerMany('error', 50);
    // The rate admits a line at each full second; the timer of held lines runs half a second later.
    await clock.advance(500);
    for (let n = 0; n < 10; n += 1) offer('error', `held ${n}`);
    for (let n = 0; n < 200; n += 1) {
      offer('error', `later ${n}`);
      await clock.advance(100);
    }
    const next = written.slice(50, 60).map(({ cron }) => cron);
    expect(next).toEqual(Array.from({ length: 10 }, (_, n) => `held ${n}`));
  });

  it('forgets the least recent of more than a thousand subjects', () => {
    for (let n = 0; n < 6; n += 1) offer('warn', 'first');
    for (let n = 0; n < 6; n += 1) offer('warn', 'second', n);
    const build = () => logLine('lease.lost', {});
    for (let n = 0; n < 999; n += 1) limiter.offer({ event: `event ${n}`, level: 'warn', subject: '' }, build);
    const before = written.length;
    offer('warn', 'second');
    expect(written).toHaveLength(before);
    offer('warn', 'first');
    expect(written).toHaveLength(before + 1);
  });

  it('accounts for each line of ten thousand crons, in bounded memory', async () => {
    offerMany('error', 10_000);
    offerMany('error', 10_000);
    expect(written).toHaveLength(50);
    expect(built).toBe(250);
    await clock.advance(600_000);
    offer('error', 'last');
    expect(accounted()).toBe(20_001);
    expect(clock.pending).toBe(0);
  });

  it('builds only the lines that it writes or holds', () => {
    for (let n = 0; n < 1_000; n += 1) offer('warn', 'a', n);
    expect(built).toBe(6);
  });

  it('writes held lines when it stops, and holds none afterwards', () => {
    for (let n = 0; n < 10; n += 1) offer('warn', 'a', n);
    limiter.stop();
    expect(written.at(-1)).toMatchObject({ n: 5, omitted: 4 });
    expect(clock.pending).toBe(0);
    offer('warn', 'a', 10);
    expect(clock.pending).toBe(0);
    offer('warn', 'b');
    expect(written.at(-1)).toMatchObject({ cron: 'b', omittedOfOthers: 1 });
  });
});
