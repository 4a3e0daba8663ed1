import { describe, expect, it } from 'vitest';
import type { LintFinding, LintedCron } from './finding.js';
import { lint } from './lint.js';

const FROM = Date.parse('2026-01-01T00:00:00Z');

function cron(name: string, expression: string, more: Partial<LintedCron> = {}): LintedCron {
  return { name, expression, timeZone: 'UTC', ...more };
}

function look(crons: readonly LintedCron[], threshold = 10) {
  const report = lint({ crons, from: FROM, threshold });
  const { findings } = report.json as { findings: readonly LintFinding[] };
  return { ...report, findings, rules: findings.map(({ rule, level }) => `${rule} ${level}`) };
}

function many(count: number, expression: string, more: Partial<LintedCron> = {}): LintedCron[] {
  return Array.from({ length: count }, (_, n) => cron(`cron-${n}`, expression, more));
}

const berlin = { timeZone: 'Europe/Berlin' } as const;

describe('lint', () => {
  it('finds nothing wrong with a cron whose clocks never change', () => {
    expect(look([cron('nightly', '30 2 * * *')])).toMatchObject({
      code: 0,
      findings: [],
      json: { ok: true, crons: 1 },
    });
  });

  it('fails for a fixed time in a gap of which nobody has said anything', () => {
    const { code, findings, rules } = look([cron('nightly', '30 2 * * *', berlin)]);
    expect([code, rules]).toEqual([1, ['dst undeclared']]);
    expect(findings[0]).toMatchObject({ crons: ['nightly'], gap: 5, repeat: 5 });
    const [first] = (findings[0]?.['examples'] ?? []) as readonly object[];
    expect(first).toEqual({
      kind: 'gap',
      local: 'Sun 2026-03-29 02:30:00',
      instants: ['2026-03-29T01:00:00.000Z'],
    });
  });

  it('takes a rule of its own for a declaration', () => {
    const dst = { gap: 'skip', repeat: 'first' } as const;
    const { code, rules } = look([cron('nightly', '30 2 * * *', { ...berlin, dst })]);
    expect([code, rules]).toEqual([0, ['dst note']]);
  });

  it('goes on with the others where one can not be read', () => {
    const crons = [cron('odd', '0 25 * * *'), cron('nightly', '30 2 * * *', berlin)];
    expect(look(crons).rules).toEqual(['unreadable undeclared', 'dst undeclared']);
  });

  it('notes an interval that names the hour of the change, and none that names all', () => {
    expect(look([cron('early', '*/15 2 * * *', berlin)])).toMatchObject({ code: 0, rules: ['dst note'] });
    expect(look([cron('always', '*/15 * * * *', berlin)]).rules).toEqual([]);
  });

  it('fails for as many crons at one instant as the threshold, and not for one less', () => {
    expect(look(many(10, '0 3 * * *'))).toMatchObject({ code: 1, rules: ['stampede undeclared'] });
    expect(look(many(9, '0 3 * * *')).rules).toEqual([]);
    expect(look(many(9, '0 3 * * *'), 9).code).toBe(1);
  });

  it('sees no stampede of crons that are spread, by "spread" or by H', () => {
    expect(look(many(20, '0 3 * * *', { spreadMs: 600_000 })).rules).toEqual([]);
    expect(look(many(12, 'H H H * * *')).rules).toEqual([]);
  });

  it('looks at a week of a cron that fires each second within reason', () => {
    expect(look(many(1_000, '* * * * * *')).findings).toMatchObject([{ rule: 'stampede', times: 604_800 }]);
  });

  it('notes crons that do the same with one handler', () => {
    const one = cron('one', '0 3 * * *', { handler: 'export', payload: { region: 'eu' } });
    expect(look([one, { ...one, name: 'two', expression: '0  3 * * *' }])).toMatchObject({
      code: 0,
      findings: [{ rule: 'duplicate', crons: ['one', 'two'] }],
    });
  });

  it.each([
    ['0 0 30 2,3 *', ['30 Feb']],
    ['0 0 31 * *', ['31 Feb', '31 Apr', '31 Jun', '31 Sep', '31 Nov']],
    ['0 0 1,31 APR-JUN *', ['31 Apr', '31 Jun']],
    ['0 0 29 2,8 *', ['29 Feb (leap years only)']],
    ['0 0 31 2/2 *', ['31 Feb', '31 Apr', '31 Jun']],
  ])('notes the days that %s names and no month has', (expression, dates) => {
    const { code, findings } = look([cron('monthly', expression)]);
    expect(code).toBe(0);
    expect(findings).toMatchObject([{ rule: 'impossible-date', dates }]);
  });

  it.each(['0 0 1-31 * *', '0 0 L * *', '0 0 30 3 *', '0 0 29 * *', '0 0 H * *', '@monthly', '0 0 * * FRI'])(
    'has nothing to say of the days of %s',
    (expression) => expect(look([cron('fine', expression)]).rules).toEqual([]),
  );

  it('shows a person what is wrong, and how much of it', () => {
    const lines = look([cron('nightly', '30 2 * * *', berlin)]).text(80);
    expect(lines[0]).toMatch(/^undeclared {2}dst {2}"nightly" \(30 2/);
    expect(lines.at(-1)).toBe('1 cron checked: 1 undeclared, 0 notes.');
    const told = look([cron('nightly', '30 2 * * *', berlin)])
      .text(200)
      .join(' ');
    expect(told).toContain('Sun 2026-03-29 02:30:00 does not exist; it fires at 2026-03-29T01:00:00.000Z');
    expect(told).toContain('Sun 2026-10-25 02:30:00 comes twice; it fires at 2026-10-25T00:30:00.000Z');
    expect(lines.every((line) => line.length <= 80)).toBe(true);
  });
});
