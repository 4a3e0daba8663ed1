import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Pool, QueryConfig } from 'pg';
import { PostgresLeaseStore } from '@fencepost/lease/postgres';
import type { Term } from '@fencepost/lease/store';
import { ABOVE_THE_CLOCK, TTL_MS, request, win } from '../support/lease-requests.js';
import { useLeaseSandbox } from '../support/postgres-sandbox.js';
import { postgresForTests } from '../support/postgres.js';
import { rejectionOf } from '../support/refusals.js';
import { replyDroppingProxy } from '../support/proxies.js';

const postgres = useLeaseSandbox();

let store: PostgresLeaseStore;
let table: string;
beforeEach(() => {
  store = postgres.sandbox.store();
  table = `"${postgres.sandbox.schema}".leases`;
});

describe('a connection that is lost', () => {
  it('in the middle of an acquisition leaves nothing half done, and the same nonce gets in afterwards', async () => {
    await store.release([await win(store, { floor: ABOVE_THE_CLOCK })]);
    const before = await postgres.sandbox.transaction(`SELECT FROM ${table} FOR UPDATE`);
    const asked = request();
    const lost = rejectionOf(store.acquire(asked));
    await postgres.sandbox.untilBlocked(1);
    expect(await postgres.sandbox.terminate('WITH seen%')).toBe(1);
    expect(await lost).toBeInstanceOf(Error);
    await before.commit();
    expect(await store.inspect(['r'])).toEqual([null]);
    expect(await store.acquire(asked)).toEqual({ acquired: true, fence: ABOVE_THE_CLOCK + 2 });
  });

  it.each(['renew', 'release'] as const)('in the middle of a batch to %s does none of it', async (call) => {
    const terms = await Promise.all(['a', 'b'].map((resource) => win(store, { resource, ttlMs: TTL_MS })));
    const version = async () =>
      (await postgres.sandbox.pool.query(`SELECT ctid, xmin FROM ${table} ORDER BY resource`)).rows;
    const unchanged = await version();
    const before = await postgres.sandbox.transaction(`SELECT FROM ${table} WHERE resource = 'b' FOR UPDATE`);
    const lost = rejectionOf(call === 'renew' ? store.renew(terms, TTL_MS) : store.release(terms));
    await postgres.sandbox.untilBlocked(1);
    expect(await postgres.sandbox.terminate('%unnest%')).toBe(1);
    expect(await lost).toBeInstanceOf(Error);
    await before.commit();
    expect(await version()).toEqual(unchanged);
  });

  it('with the reply costs neither the lease nor a fence when the same nonce asks again', async () => {
    const { url } = await postgresForTests();
    const proxy = await replyDroppingProxy(url);
    const far = postgres.sandbox.another({
      connectionString: url.replace(/@[^/]+/, `@${new URL(proxy.url).host}`),
    });
    await far.query('SELECT 1');
    const asked = request({ floor: ABOVE_THE_CLOCK });
    const unlucky = new PostgresLeaseStore({ client: far, schema: postgres.sandbox.schema });
    proxy.dropNextReply();
    await expect(unlucky.acquire(asked)).rejects.toBeInstanceOf(Error);
    expect(proxy.dropped).toBe(1);
    expect(await unlucky.acquire(asked)).toEqual({ acquired: true, fence: ABOVE_THE_CLOCK + 1 });
    await proxy.close();
  });
});

describe('two batches at once', () => {
  /** As if the client's pool did it: every refusal is seen, also one that the store recovers from. */
  function watched(pool: Pool): { client: Pool; failures: unknown[] } {
    const failures: unknown[] = [];
    const client = Object.assign(Object.create(pool) as Pool, {
      query: async (query: QueryConfig) => {
        try {
          return await pool.query(query);
        } catch (error) {
          failures.push(error);
          throw error;
        }
      },
    });
    return { client, failures };
  }

  it.each(['renew', 'release'] as const)('that %s in opposite orders do not wait for each other', async (call) => {
    const { client, failures } = watched(postgres.sandbox.pool);
    const both = new PostgresLeaseStore({ client, schema: postgres.sandbox.schema });
    const terms: Term[] = [];
    for (const resource of ['a', 'm', 'z']) terms.push(await win(store, { resource }));
    // Among many rows each term is looked up by itself; in a small table they come in the order in which they lie there.
    const many = `SELECT 'fencepost:v1:default:lease', n::text, 1 FROM generate_series(1, 5000) AS n`;
    await postgres.sandbox.pool.query(`INSERT INTO ${table} (space, resource, fence) ${many}; ANALYZE ${table}`);
    const send = (batch: Term[]) => (call === 'renew' ? both.renew(batch, TTL_MS) : both.release(batch));
    const before = await postgres.sandbox.transaction(`SELECT FROM ${table} WHERE resource = 'm' FOR UPDATE`);
    const forth = send(terms);
    await postgres.sandbox.untilBlocked(1);
    const back = send(terms.toReversed());
    await postgres.sandbox.untilBlocked(2);
    await before.commit();
    const answers = await Promise.all([forth, back]);
    expect(failures).toEqual([]);
    expect(answers).toEqual([[true, true, true], Array(3).fill(call === 'renew')]);
  });
});

describe.each(['repeatable read', 'serializable'])('where %s is the default', (isolation) => {
  const settings = () => ({ options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}` });

  it('a batch that had to wait for somebody else is sent again', async () => {
    const strict = postgres.sandbox.store(settings());
    const term = await win(strict);
    const before = await postgres.sandbox.transaction(`UPDATE ${table} SET holder = 'pod/2'`);
    const renewed = strict.renew([term], TTL_MS);
    await postgres.sandbox.untilBlocked(1);
    await before.commit();
    expect(await renewed).toEqual([true]);
  });
});

describe('a watch', () => {
  const listening = `SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN%'`;
  const listeners = async () =>
    Number((await postgres.sandbox.pool.query(listening, [postgres.sandbox.schema])).rows[0].n);

  it('hears of releases again after its connection was lost', async () => {
    const heard = vi.fn<(resource: string) => void>();
    const stop = await store.watchReleases(heard);
    expect(await postgres.sandbox.terminate('LISTEN%')).toBe(1);
    await expect.poll(listeners, { interval: 5, timeout: 10_000 }).toBe(1);
    await vi.waitFor(async () => {
      await store.release([await win(store)]);
      expect(heard).toHaveBeenCalledWith('r');
    });
    await stop();
  });

  it('that ends leaves no connection behind, and says nothing more', async () => {
    const heard = vi.fn<(resource: string) => void>();
    const pool = postgres.sandbox.another();
    const stop = await new PostgresLeaseStore({ client: pool, schema: postgres.sandbox.schema }).watchReleases(heard);
    expect(pool.totalCount).toBe(1);
    await stop();
    expect(pool.totalCount).toBe(0);
    await store.release([await win(store)]);
    expect(heard).not.toHaveBeenCalled();
  });
});
