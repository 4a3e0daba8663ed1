import { describe, expect, it } from 'vitest';
import { next, type NextQuestion } from './next.js';

function ask(question: Partial<NextQuestion['schedule']>, from: string, count: number) {
  const schedule = { expression: '30 2 * * *', timeZone: 'Europe/Berlin', seed: 'cron', ...question };
  return next({ schedule, from: Date.parse(from), count });
}

const SPRING = '2026-03-28T00:00:00Z';
const AUTUMN = '2026-10-24T12:00:00Z';

describe('next', () => {
  it('answers a program with instants', () => {
    const { json, code } = ask({}, SPRING, 3);
    expect(json).toEqual(['2026-03-28T01:30:00.000Z', '2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']);
    expect(code).toBe(0);
  });

  it('marks the one that stands for a time in the gap, and no other', () => {
    const [head, before, moved, after, ...rest] = ask({}, SPRING, 3).text(200);
    expect(head).toMatch(/^Europe\/Berlin +offset +UTC$/);
    expect(before).toMatch(/^Sat 2026-03-28 02:30:00 +\+01:00 +2026-03-28T01:30:00Z$/);
    expect(moved).toMatch(
      /^Sun 2026-03-29 03:00:00 +\+02:00 +2026-03-29T01:00:00Z {2}clocks go forward: for 02:30:00, /,
    );
    expect(after).toMatch(/^Mon 2026-03-30 02:30:00 +\+02:00 +2026-03-30T00:30:00Z$/);
    expect(rest).toEqual([]);
  });

  it('tells of a time that is left out', () => {
    const lines = ask({ dst: { gap: 'skip' } }, SPRING, 2).text(200);
    expect(lines.at(-1)).toBe('Clocks go forward: Sun 2026-03-29 02:30:00 does not exist, and nothing fires for it.');
    expect(lines.join('\n')).not.toContain('2026-03-29T');
  });

  it('marks a repeated time as the first or the second', () => {
    const text = ask({ dst: { repeat: 'both' } }, AUTUMN, 2)
      .text(200)
      .join('\n');
    expect(text).toMatch(/\+02:00 +2026-10-25T00:30:00Z {2}clocks go back: 02:30:00 comes twice, the first/);
    expect(text).toMatch(/\+01:00 +2026-10-25T01:30:00Z {2}clocks go back: 02:30:00 comes twice, the second/);
  });

  it('marks a repeated time that fires once', () => {
    expect(ask({}, AUTUMN, 1).text(200).join('\n')).toContain('comes twice, and fires once');
  });

  it('marks both copies of an hour that an interval runs through', () => {
    const text = ask({ expression: '*/30 2 * * *' }, AUTUMN, 4).text(200).join('\n');
    expect(text.match(/comes twice, the (first|second)/g)).toHaveLength(4);
  });

  it('shows when a spread cron is due', () => {
    const lines = ask({ spreadMs: 600_000, seed: 'nightly' }, SPRING, 1).text(200);
    expect(lines[0]).toMatch(/UTC +due$/);
    expect(lines[1]).toMatch(/2026-03-28T01:30:00Z +2026-03-28T01:3\d:\d\d\.\d{3}Z$/);
  });
});
