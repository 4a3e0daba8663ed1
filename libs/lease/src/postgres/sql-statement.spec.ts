import { describe, expect, it } from 'vitest';
import { SetupError } from '../base/errors.js';
import { SqlStatement } from './sql-statement.js';

describe('a statement from a file', () => {
  const statement = new SqlStatement('count-rows', '-- Counts.\nSELECT :"column" FROM :"table"\n');

  it('is sent without its comments, and with quoted names in their places', () => {
    expect(statement.about({ column: 'a"b', table: 'T' }).text).toBe(`SELECT "a""b" FROM "T"\n`);
  });

  it('refuses a place without a name', () => {
    expect(() => statement.about({ column: 'a' })).toThrow(SetupError);
  });

  it('takes its values in order', () => {
    const bound = new SqlStatement('pick-row', 'SELECT $1, $2').about({});
    expect(bound.with('a', 2)).toEqual({ text: 'SELECT $1, $2', values: ['a', 2] });
  });
});
