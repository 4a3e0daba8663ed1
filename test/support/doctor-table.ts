import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { DoctorFacts } from '../../libs/operations/src/operating/doctor-facts.js';
import { judgeDeployment } from '../../libs/operations/src/operating/doctor.js';
import { healthy, podOf, redisOf, serverOf } from './doctor-facts.js';

export type Over = Partial<DoctorFacts>;

/** What is different from a healthy deployment, and the one finding that comes of it; `null`: none. */
export type Row = readonly [what: string, facts: Over, found: string | null];

/** The pods of a healthy deployment. */
export const [ONE = podOf(), OTHER = podOf()] = healthy().pods;

export const withOne = (over: Parameters<typeof podOf>[0]): Over => ({ pods: [{ ...ONE, ...over }, OTHER] });

export const withBoth = (over: Parameters<typeof podOf>[0]): Over => ({
  pods: [
    { ...ONE, ...over },
    { ...OTHER, ...over },
  ],
});

export const withServer = (over: Parameters<typeof serverOf>[0]): Over => ({
  redis: redisOf({ servers: [serverOf(over)] }),
});

/** `<level> <code> <subject>` of each but the last, which says what was looked at. */
export function found(over: Over): string[] {
  const findings = judgeDeployment(healthy(over)).filter(({ level }) => level !== 'ok');
  return findings.map(({ level, code, subject }) => `${level} ${code} ${subject}`);
}

/** @param room the file that has the rules, none of which may be missing in the table */
export function describeFindings(file: string, table: readonly Row[]): void {
  describe(`the rules of ${file}`, () => {
    it.each(table)('find it where %s', (_what, facts, expected) => {
      expect(found(facts)).toEqual(expected === null ? [] : [expected]);
    });

    it.each(table)('say it in sentences, with what to do, where %s', (_what, facts) => {
      for (const { text, todo, level } of judgeDeployment(healthy(facts))) {
        expect(text).toMatch(/^["\w].*[.:] ?\w*$/s);
        expect(`${text} ${todo}`).not.toMatch(/undefined|NaN|\[object/);
        expect(todo ?? (level === 'bad' || level === 'warn' ? '' : 'nothing to do')).toMatch(/.{10}/);
      }
    });

    it('are all in the table', () => {
      const text = readFileSync(new URL(`../../libs/operations/src/operating/${file}.ts`, import.meta.url), 'utf8');
      const codes = [...text.matchAll(/code: '([A-Z_]+)'/g)].map(([, code = '']) => code);
      const shown = new Set(table.map(([, , expected]) => expected?.split(' ')[1]));
      expect(codes.length).toBeGreaterThan(4);
      expect(codes.filter((code) => !shown.has(code))).toEqual([]);
    });
  });
}
