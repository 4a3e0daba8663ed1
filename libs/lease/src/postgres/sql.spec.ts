import { describe, expect, it } from 'vitest';
import { SetupError } from '../base/errors.js';
import { identifier, sql } from './sql.js';
import type { SqlFragment } from './sql.js';

/** Its own properties, as they are sent. */
const shown = ({ text, values }: SqlFragment) => ({ text, values });

describe('sql', () => {
  it('sends what stands in ${…} as values, in order', () => {
    expect(shown(sql`SELECT ${1}, ${'two'}, ${null}`)).toEqual({
      text: 'SELECT $1, $2, $3',
      values: [1, 'two', null],
    });
  });

  it('never takes a value for text, whatever is in it', () => {
    expect(shown(sql`SELECT ${"'; DROP TABLE orders; --"}`)).toEqual({
      text: 'SELECT $1',
      values: ["'; DROP TABLE orders; --"],
    });
  });

  it('numbers the values of nested fragments anew, at any depth and also at the edges', () => {
    const inner = sql`${'b'} = b OR ${'c'}`;
    const middle = sql`(${inner} AND ${'d'})`;
    const { text, values } = sql`${inner} ${'a'} ${middle}${inner}`;
    expect(text).toBe('$1 = b OR $2 $3 ($4 = b OR $5 AND $6)$7 = b OR $8');
    expect(values).toEqual(['b', 'c', 'a', 'b', 'c', 'd', 'b', 'c']);
  });

  it('takes an object that looks like a fragment for a value', () => {
    const alike = { text: 'true OR', values: [] };
    expect(sql`WHERE ${alike}`.values).toEqual([alike]);
  });

  it('refuses undefined, which would be sent as NULL', () => {
    expect(() => sql`WHERE id = ${undefined}`).toThrow(/got undefined; write null for NULL/);
  });

  it('refuses places numbered by hand', () => {
    expect(() => sql`WHERE id = $1 AND ${true}`).toThrow('Expected values as ${…}');
  });
});

describe('an identifier', () => {
  it('is quoted, each part by itself, and quotes in it are doubled', () => {
    expect(sql`SELECT FROM ${identifier('public', 'my "orders"')} WHERE ${1} = 1`.text).toBe(
      'SELECT FROM "public"."my ""orders""" WHERE $1 = 1',
    );
  });

  it.each(['', 'a\0b', 'ü'.repeat(32)])('is refused where the server would cut or misread it: %j', (name) => {
    expect(() => identifier(name)).toThrow(SetupError);
  });
});
