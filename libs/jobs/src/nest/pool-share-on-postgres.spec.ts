import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresForTests } from '../../../../test/support/postgres.js';
import { PoolShare } from './postgres-pool-share.js';

const MAX = 3;

let pool: Pool;
beforeAll(async () => {
  pool = new Pool({ connectionString: (await postgresForTests()).url, max: MAX, connectionTimeoutMillis: 2_000 });
}, 60_000);
afterAll(() => pool.end());

describe('the share of a caller’s pool that questions have', () => {
  it('leaves a connection to claims, however many questions there are', async () => {
    const share = new PoolShare(pool, MAX - 1);
    // Each question holds its connection until it is told to end.
    const held = Array.from({ length: 10 }, () => share.connect());
    try {
      await Promise.all(held.slice(0, MAX - 1));
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    } finally {
      const given = held.map(async (connection) => (await connection).release());
      await Promise.allSettled(given);
    }
    expect((await share.query({ text: 'select 2 as two' })).rows).toEqual([{ two: 2 }]);
  });

  it('has room again after a question that failed, and after one whose connection was closed', async () => {
    const share = new PoolShare(pool, 1);
    await expect(share.query({ text: 'select no_such_column' })).rejects.toThrow(/no_such_column/);
    (await share.connect()).release(true);
    const none = new PoolShare({ query: () => away(), connect: () => away() }, 1);
    await expect(none.connect()).rejects.toThrow('away');
    await expect(none.connect()).rejects.toThrow('away');
    expect((await share.query({ text: 'select 3 as three' })).rows).toEqual([{ three: 3 }]);
  });
});

const away = () => Promise.reject(new Error('away'));
