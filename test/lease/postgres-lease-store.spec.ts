import { beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { PostgresLeaseStore, createLeaseTable } from '@fencepost/lease/postgres';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { ABOVE_THE_CLOCK, TTL_MS, request, win } from '../support/lease-requests.js';
import { useLeaseSandbox, usePostgresSandbox } from '../support/postgres-sandbox.js';

describe('the PostgreSQL lease store', () => {
  const postgres = useLeaseSandbox();

  leaseStoreContract('the PostgreSQL store', async () => {
    const { schema, pool } = postgres.sandbox;
    const store = postgres.sandbox.store();
    return {
      store,
      untilFree: async (resource) => {
        await expect.poll(() => store.inspect([resource]), { interval: 5, timeout: 5_000 }).toEqual([null]);
      },
      clockGoesBack: async (resource, ms) => {
        const later = `expires_at + $2 * interval '1 millisecond'`;
        await pool.query(`UPDATE "${schema}".leases SET expires_at = ${later} WHERE resource = $1`, [resource, ms]);
      },
      lose: async () => void (await pool.query(`TRUNCATE "${schema}".leases`)),
      close: async () => {},
    };
  });

  describe('the PostgreSQL store', () => {
    let store: PostgresLeaseStore;
    let table: string;

    beforeEach(() => {
      store = postgres.sandbox.store();
      table = `"${postgres.sandbox.schema}".leases`;
    });

    /** By the server's clock, in microseconds as fences are. */
    const serverTime = async () =>
      Number(
        (await postgres.sandbox.pool.query('SELECT extract(epoch FROM clock_timestamp()) * 1000000 AS us')).rows[0].us,
      );
    const expiry = async (resource = 'r') => {
      const { rows } = await postgres.sandbox.pool.query(
        `SELECT extract(epoch FROM expires_at) * 1000000 AS us FROM ${table} WHERE resource = $1`,
        [resource],
      );
      return Number(rows[0].us);
    };

    it('lets one of a hundred contenders on twenty connections win', async () => {
      const replies = await Promise.all(Array.from({ length: 100 }, () => store.acquire(request())));
      expect(postgres.sandbox.pool.totalCount).toBe(20);
      expect(replies.filter(({ acquired }) => acquired)).toHaveLength(1);
    });

    it.each([
      ['that was free', true],
      ['that nobody had before', false],
    ])('tells a contender that lost a resource %s in the last moment how long the winner has', async (_what, known) => {
      if (known) await store.release([await win(store)]);
      const winner = await postgres.sandbox.transaction(
        `INSERT INTO ${table} (space, resource, nonce, holder, ttl_ms, expires_at, fence)
       VALUES ('fencepost:v1:default:lease', 'r', 'n', 'pod', ${TTL_MS}, clock_timestamp() + interval '10 s', 1)
       ON CONFLICT (space, resource) DO UPDATE SET nonce = 'n', holder = 'pod', ttl_ms = ${TTL_MS},
         expires_at = EXCLUDED.expires_at`,
      );
      const asked = store.acquire(request());
      await postgres.sandbox.untilBlocked(1);
      await winner.commit();
      const reply = await asked;
      expect(reply).toMatchObject({ acquired: false });
      expect(reply).toHaveProperty(
        'remainingMs',
        expect.toSatisfy((ms: number) => ms > TTL_MS / 2 && ms <= TTL_MS),
      );
    });

    it('goes above the floor also where it remembers a smaller fence', async () => {
      await store.release([await win(store)]);
      expect((await win(store, { floor: ABOVE_THE_CLOCK })).fence).toBe(ABOVE_THE_CLOCK + 1);
    });

    it('neither writes nor locks a row that somebody else holds', async () => {
      await win(store);
      const version = async () => (await postgres.sandbox.pool.query(`SELECT ctid, xmin, xmax FROM ${table}`)).rows;
      const before = await version();
      for (let n = 0; n < 3; n++) expect(await store.acquire(request())).toMatchObject({ acquired: false });
      expect(await version()).toEqual(before);
    });

    it('keeps the row of a resource that nobody holds, for its fence', async () => {
      const { fence, ...term } = await win(store, { floor: ABOVE_THE_CLOCK });
      await store.release([term]);
      const { rows } = await postgres.sandbox.pool.query(
        `SELECT resource, fence, nonce, holder, ttl_ms, expires_at FROM ${table}`,
      );
      const nobody = { nonce: null, holder: null, ttl_ms: null, expires_at: null };
      expect(rows).toEqual([{ resource: 'r', fence: `${fence}`, ...nobody }]);
    });

    it('counts the ttl and the fence from when it got the row, not from when it began to wait for it', async () => {
      await store.release([await win(store)]);
      const before = await postgres.sandbox.transaction(`SELECT FROM ${table} FOR UPDATE`);
      const asked = store.acquire(request());
      await postgres.sandbox.untilBlocked(1);
      const waitedUntil = await serverTime();
      await before.commit();
      expect(await asked).toHaveProperty(
        'fence',
        expect.toSatisfy((fence: number) => fence >= waitedUntil),
      );
      expect(await expiry()).toBeGreaterThanOrEqual(waitedUntil + TTL_MS * 1000);
    });

    it.each(['renew', 'release'] as const)(
      'does not %s a term that ended while it waited for the row',
      async (call) => {
        const term = await win(store, { ttlMs: 500 });
        const before = await postgres.sandbox.transaction(`SELECT FROM ${table} FOR UPDATE`);
        const asked = call === 'renew' ? store.renew([term], TTL_MS) : store.release([term]);
        await postgres.sandbox.untilBlocked(1);
        await expect.poll(() => store.inspect(['r']), { interval: 5, timeout: 5_000 }).toEqual([null]);
        await before.commit();
        expect(await asked).toEqual([false]);
        expect(await store.inspect(['r'])).toEqual([null]);
      },
    );

    it('keeps prefixes, tenants and tables apart', async () => {
      const spaces = [{ prefix: 'other' }, { tenant: 'other' }].map(
        (space) => new PostgresLeaseStore({ client: postgres.sandbox.pool, schema: postgres.sandbox.schema, ...space }),
      );
      const first = await win(store);
      for (const other of spaces) {
        expect(await other.inspect(['r'])).toEqual([null]);
        expect(await other.renew([first], TTL_MS)).toEqual([false]);
        expect(await other.release([first])).toEqual([false]);
        expect(await other.acquire(request())).toMatchObject({ acquired: true });
      }
    });

    it.each([{ prefix: 'a:b' }, { tenant: '' }, { schema: '' }, { table: 'x'.repeat(64) }])(
      'refuses %j before it asks anything',
      (options) => {
        expect(() => new PostgresLeaseStore({ client: postgres.sandbox.pool, ...options })).toThrow(SetupError);
      },
    );

    it('says what to do when its table is not there', async () => {
      const lost = new PostgresLeaseStore({
        client: postgres.sandbox.pool,
        schema: postgres.sandbox.schema,
        table: 'elsewhere',
      });
      await expect(lost.acquire(request())).rejects.toThrow(
        new SetupError(
          `relation "${postgres.sandbox.schema}.elsewhere" does not exist: call createLeaseTable() once before, with the same schema ` +
            `and table ("${postgres.sandbox.schema}"."elsewhere").`,
        ),
      );
    });
  });
});

describe('the table of leases', () => {
  const postgres = usePostgresSandbox();

  const store = () => new PostgresLeaseStore({ client: postgres.sandbox.pool, schema: postgres.sandbox.schema });

  it('is made once by ten who start at once, each with a connection of its own', async () => {
    const pools = Array.from({ length: 10 }, () => postgres.sandbox.another({ max: 1 }));
    await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
    await Promise.all(pools.map((pool) => createLeaseTable(pool, { schema: postgres.sandbox.schema })));
    expect(await store().acquire(request())).toMatchObject({ acquired: true });
  });

  it('waits for somebody who is just making it', async () => {
    const lock = `SELECT pg_advisory_xact_lock(7310579598273)`;
    const other = await postgres.sandbox.transaction(`${lock}; CREATE SCHEMA "${postgres.sandbox.schema}"`);
    const made = createLeaseTable(postgres.sandbox.pool, { schema: postgres.sandbox.schema });
    await postgres.sandbox.untilBlocked(1);
    await other.commit();
    await made;
    expect(await store().inspect(['r'])).toEqual([null]);
  });

  it('is enough for a role that may not create anything', async () => {
    const role = postgres.sandbox.schema;
    await createLeaseTable(postgres.sandbox.pool, { schema: postgres.sandbox.schema });
    await postgres.sandbox.pool.query(`
      CREATE ROLE "${role}";
      GRANT USAGE ON SCHEMA "${postgres.sandbox.schema}" TO "${role}";
      GRANT SELECT, INSERT, UPDATE ON "${postgres.sandbox.schema}".leases TO "${role}"`);
    const pool = postgres.sandbox.another({ options: `-c role=${role}` });
    await createLeaseTable(pool, { schema: postgres.sandbox.schema });
    const poor = new PostgresLeaseStore({ client: pool, schema: postgres.sandbox.schema });
    const asked = request();
    expect(await poor.acquire(asked)).toMatchObject({ acquired: true });
    expect(await poor.release([asked])).toEqual([true]);
    await postgres.sandbox.pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
  });

  it.each([
    ['of a newer release', `COMMENT ON TABLE "$".leases IS 'fencepost leases v2'`, '"fencepost leases v2"'],
    ["that is somebody else's", `COMMENT ON TABLE "$".leases IS NULL`, 'null'],
  ])('is refused when it is one %s', async (_what, change, shown) => {
    await createLeaseTable(postgres.sandbox.pool, { schema: postgres.sandbox.schema });
    await postgres.sandbox.pool.query(change.replace('$', postgres.sandbox.schema));
    const refused = createLeaseTable(postgres.sandbox.pool, { schema: postgres.sandbox.schema });
    await expect(refused).rejects.toThrow(SetupError);
    await expect(refused).rejects.toThrow(
      `to have the comment "fencepost leases v1", got ${shown}. It belongs to another program`,
    );
  });
});
