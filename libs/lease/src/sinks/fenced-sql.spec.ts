import { describe, expect, it } from 'vitest';
import { SetupError, StaleFenceError } from '../base/errors.js';
import { parseFence } from '../base/fence.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import { fencedSql } from './fenced-sql.js';

const LEASE = { resource: 'order:1', fence: parseFence('1787654321123456') };

describe('fenced SQL', () => {
  it('carries the fence as a decimal string, which no client rounds', () => {
    const f = fencedSql(LEASE, { downstream: 'orders' });
    expect(f.value).toBe('1787654321123456');
    for (const { values } of [f.set, f.condition]) expect(values).toEqual(['1787654321123456']);
  });

  it('qualifies the column where it is compared, and not where it is set', () => {
    const f = fencedSql(LEASE, { downstream: 'orders', column: 'Fence', table: 'o' });
    expect(f.set.text).toBe('"Fence" = $1::bigint');
    expect(f.condition.text).toBe('("o"."Fence" IS NULL OR "o"."Fence" <= $1::bigint)');
    expect(f.setExcluded.text).toBe('"Fence" = EXCLUDED."Fence"');
    expect(f.conflictCondition.text).toBe('("o"."Fence" IS NULL OR "o"."Fence" <= EXCLUDED."Fence")');
  });

  it('has no words for what its dialect can not say', () => {
    const f = fencedSql(LEASE, { downstream: 'orders', dialect: 'mysql', table: 'o' });
    expect(() => f.conflictCondition).toThrow('ON DUPLICATE KEY UPDATE takes no condition');
    expect(() => f.setExcluded).toThrow(SetupError);
    expect(() => f.numbered(1)).toThrow('use set.sql and condition.sql');
  });

  it('has no condition for a conflict without the name of the table', () => {
    expect(() => fencedSql(LEASE, { downstream: 'orders' }).conflictCondition).toThrow(SetupError);
  });

  it.each([
    [1, 1],
    [3, 3],
    [3, 2],
  ])('takes an answer of %i rows for one that needed %i', (rowCount, rows) => {
    const result = { rowCount, rows: ['kept'] };
    expect(fencedSql(LEASE, { downstream: 'orders' }).check(result, rows)).toBe(result);
  });

  it.each([
    [0, 1],
    [2, 3],
    [null, 1],
  ])('throws for an answer of %s rows where %i were needed, and tells of it', (rowCount, rows) => {
    const events: LeaseEvent[] = [];
    const f = fencedSql(LEASE, { downstream: 'orders', observe: (event) => events.push(event) });
    expect(() => f.check({ rowCount }, rows)).toThrow(StaleFenceError);
    expect(events).toEqual([{ name: 'fence.rejected', downstream: 'orders', ...LEASE }]);
  });
});
