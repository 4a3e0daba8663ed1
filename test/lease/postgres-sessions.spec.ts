import { beforeEach, describe, expect, it } from 'vitest';
import type { Pool, QueryConfig } from 'pg';
import { type LeaseStore, NO_FENCE } from '@fencepost/lease';
import { PostgresLeaseStore } from '@fencepost/lease/postgres';
import { TTL_MS, request, win } from '../support/lease-requests.js';
import {
  fenceOf,
  manyWanted,
  openSession,
  type Session,
  type SessionRequest,
  sessionsOf,
  wanted as requested,
} from '../support/lease-sessions.js';
import { useLeaseSandbox } from '../support/postgres-sandbox.js';

const SPACE = 'fencepost:v1:default:lease';
const postgres = useLeaseSandbox();

let store: PostgresLeaseStore;
let table: string;
beforeEach(() => {
  store = postgres.sandbox.store();
  table = `"${postgres.sandbox.schema}".leases`;
});

const sql = async (text: string, ...values: unknown[]) => (await postgres.sandbox.pool.query(text, values)).rows;
const wanted = (resource = 'r') => requested({ resource });

async function opened(over: Partial<Session> = {}, of: LeaseStore = store) {
  const session = await openSession(of, over);
  return { session, acquire: (...asked: SessionRequest[]) => sessionsOf(of).acquire(session, asked) };
}

/** What the session of this nonce has in its row is moved by so much. */
const moved = (nonce: string, ms: number) =>
  sql(`UPDATE ${table} SET expires_at = expires_at + $2 * interval '1 millisecond' WHERE resource = $1`, nonce, ms);

/** As if the client's pool did it: each statement is seen. */
function watched(): { readonly seen: QueryConfig[]; readonly store: PostgresLeaseStore } {
  const seen: QueryConfig[] = [];
  const client = Object.assign(Object.create(postgres.sandbox.pool) as Pool, {
    query: (query: QueryConfig) => {
      seen.push(query);
      return postgres.sandbox.pool.query(query);
    },
  });
  return { seen, store: new PostgresLeaseStore({ client, schema: postgres.sandbox.schema }) };
}

describe('the number of terms under a session in PostgreSQL', () => {
  it('is no matter: 500 are acquired by one statement, renewed by one and ended by one, which write one row', async () => {
    const { seen, store: counted } = watched();
    const { session, acquire } = await opened({}, counted);
    const versions = () => sql(`SELECT resource, ctid, xmin FROM ${table} WHERE space = $1 ORDER BY resource`, SPACE);
    seen.length = 0;
    expect((await acquire(...manyWanted(500))).filter(({ acquired }) => acquired)).toHaveLength(500);
    expect(seen).toHaveLength(1);
    const before = await versions();
    expect(await counted.sessions.renew(session, [])).toEqual({ live: true, revoked: [] });
    expect(await counted.sessions.close(session)).toBe(true);
    expect(seen).toHaveLength(3);
    expect(await versions()).toEqual(before);
    expect(await counted.inspect(['r0', 'r499'])).toEqual([null, null]);
  });

  it('is found by keys alone: no statement reads a whole table of 20 000 leases', async () => {
    const { seen, store: counted } = watched();
    await sql(
      `INSERT INTO ${table} (space, resource, fence) SELECT $1, 'x' || n, 1 FROM generate_series(1, 20000) AS n`,
      SPACE,
    );
    await sql(`ANALYZE ${table}`);
    const dead = await opened({}, counted);
    await dead.acquire(...manyWanted(50));
    await counted.sessions.close(dead.session);
    const { session, acquire } = await opened({}, counted);
    const [reply] = await acquire(...manyWanted(50));
    await counted.sessions.renew(session, [{ resource: 'r1', nonce: 'n' }]);
    await counted.evict('r0', fenceOf(reply));
    await counted.acquire(request({ resource: 'r2' }));
    await counted.inspect(['r1', 'r2']);
    await counted.release(manyWanted(3));
    await counted.sessions.closeOf('r1', NO_FENCE);
    for (const { text, values = [] } of seen) {
      const plan = await sql(`EXPLAIN ${text}`, ...values);
      expect(plan.map((line) => line['QUERY PLAN']).join('\n')).not.toContain('Seq Scan on leases');
    }
  });
});

describe('a session in PostgreSQL', () => {
  it.each(['a session', 'a term with a ttl of its own'])(
    'that seems to be over while its renewal is under way loses nothing to %s',
    async (kind) => {
      const mine = await opened();
      await mine.acquire(wanted());
      await moved(mine.session.nonce, -2 * TTL_MS);
      const renewal = await postgres.sandbox.transaction(
        `UPDATE ${table} SET expires_at = clock_timestamp() + interval '10 s' WHERE resource = '${mine.session.nonce}'`,
      );
      const other = await opened({ holder: 'pod/2' });
      const asked = kind === 'a session' ? other.acquire(wanted()) : store.acquire(request());
      await postgres.sandbox.untilBlocked(1);
      await renewal.commit();
      const [reply] = [await asked].flat();
      expect(reply).toMatchObject({ acquired: false });
      expect(await store.inspect(['r'])).toMatchObject([{ holder: 'pod/1' }]);
    },
  );

  it.each(['a session', 'a term with a ttl of its own'])(
    'that came to hold the resource in the last moment keeps it from %s',
    async (kind) => {
      const dead = await opened();
      await dead.acquire(wanted());
      await store.sessions.close(dead.session);
      const quick = await opened({ holder: 'pod/3' });
      const other = await opened({ holder: 'pod/2' });
      const taken = await postgres.sandbox.transaction(
        `UPDATE ${table} SET nonce = 'n ${quick.session.nonce}', holder = 'pod/3', fence = fence + 1
         WHERE space = '${SPACE}' AND resource = 'r'`,
      );
      const asked = kind === 'a session' ? other.acquire(wanted()) : store.acquire(request());
      await postgres.sandbox.untilBlocked(1);
      await taken.commit();
      const [reply] = [await asked].flat();
      expect(reply).toMatchObject({ acquired: false });
      expect(await store.inspect(['r'])).toMatchObject([{ holder: 'pod/3' }]);
    },
  );

  it('is not renewed when it ended while the renewal waited for its row', async () => {
    const { session } = await opened({ ttlMs: 500 });
    const before = await postgres.sandbox.transaction(`SELECT FROM ${table} FOR UPDATE`);
    const asked = store.sessions.renew(session, []);
    await postgres.sandbox.untilBlocked(1);
    const over = `SELECT expires_at <= clock_timestamp() AS over FROM ${table} WHERE resource = $1`;
    await expect.poll(() => sql(over, session.nonce), { interval: 5, timeout: 5_000 }).toEqual([{ over: true }]);
    await before.commit();
    expect(await asked).toEqual({ live: false, revoked: [] });
  });

  it('that has ended is not opened again under the same nonce', async () => {
    const closed = await opened();
    const expired = await opened();
    await store.sessions.close(closed.session);
    await moved(expired.session.nonce, -2 * TTL_MS);
    for (const { session } of [closed, expired]) {
      await store.sessions.open(session);
      expect(await store.sessions.renew(session, [])).toEqual({ live: false, revoked: [] });
    }
  });

  it('blocks nobody for longer than its ttl after the clock went back, and a renewal counts from now', async () => {
    const { session, acquire } = await opened();
    await acquire(wanted());
    await moved(session.nonce, 10 * TTL_MS);
    const [reply] = await (await opened({ holder: 'pod/2' })).acquire(wanted());
    expect(reply).toHaveProperty(
      'remainingMs',
      expect.toSatisfy((ms: number) => ms <= TTL_MS),
    );
    await moved(session.nonce, 10 * TTL_MS);
    await store.sessions.renew(session, []);
    expect((await store.inspect(['r']))[0]?.remainingMs).toBeLessThanOrEqual(TTL_MS);
  });

  it('answers a resource that stands in the batch twice: the first request has it, the second does not', async () => {
    const { acquire } = await opened();
    const first = wanted();
    const replies = await acquire(first, wanted(), first);
    expect(replies).toMatchObject([{ acquired: true }, { acquired: false }, replies[0]]);
  });

  it('leaves its row for a day, and the next one that is opened removes it with the notes of its terms', async () => {
    const { session, acquire } = await opened();
    const [reply] = await acquire(wanted());
    await store.evict('r', fenceOf(reply));
    await store.sessions.close(session);
    const left = async () => (await sql(`SELECT FROM ${table} WHERE resource LIKE $1`, `${session.nonce}%`)).length;
    await opened();
    expect(await left()).toBe(2);
    await moved(session.nonce, -86_400_000);
    await opened();
    expect(await left()).toBe(0);
  });

  it('is opened by a role that may not delete', async () => {
    const role = postgres.sandbox.schema;
    await sql(`CREATE ROLE "${role}"`);
    await sql(`GRANT USAGE ON SCHEMA "${postgres.sandbox.schema}" TO "${role}"`);
    await sql(`GRANT SELECT, INSERT, UPDATE ON ${table} TO "${role}"`);
    const poor = postgres.sandbox.store({ options: `-c role=${role}` });
    const { session, acquire } = await opened({}, poor);
    expect(await acquire(wanted())).toMatchObject([{ acquired: true }]);
    expect(await poor.sessions.close(session)).toBe(true);
    await sql(`DROP OWNED BY "${role}"`);
    await sql(`DROP ROLE "${role}"`);
  });
});

describe('two batches under sessions', () => {
  it('that name the resources in opposite orders do not wait for each other', async () => {
    const [one, other] = [await opened(), await opened({ holder: 'pod/2' })];
    await store.release([await win(store, { resource: 'm' })]);
    const before = await postgres.sandbox.transaction(`SELECT FROM ${table} WHERE resource = 'm' FOR UPDATE`);
    const batch = ['a', 'm', 'z'].map(wanted);
    const forth = one.acquire(...batch);
    await postgres.sandbox.untilBlocked(1);
    const back = other.acquire(...batch.toReversed());
    await postgres.sandbox.untilBlocked(2);
    await before.commit();
    const won = (await Promise.all([forth, back])).map((replies) => replies.filter(({ acquired }) => acquired).length);
    expect(won).toEqual([3, 0]);
  });
});

describe('a build that knows no sessions, on the same table', () => {
  /** Its refusal of held resources, and what it writes where it finds one free. */
  const ACQUIRE = (nonce: string) => `
    INSERT INTO ${table} AS lease (space, resource, nonce, holder, ttl_ms, acquired_at, expires_at, fence)
    SELECT '${SPACE}', 'r', '${nonce}', 'old', ${TTL_MS}, now(), now() + interval '10 s', 1
    ON CONFLICT (space, resource) DO UPDATE SET nonce = EXCLUDED.nonce, holder = EXCLUDED.holder, ttl_ms = EXCLUDED.ttl_ms,
      acquired_at = EXCLUDED.acquired_at, expires_at = EXCLUDED.expires_at, fence = lease.fence + 1
    WHERE lease.nonce IS NULL OR lease.nonce = EXCLUDED.nonce OR lease.expires_at <= clock_timestamp()
    RETURNING fence`;

  it('is kept out by a term under a session, and takes over when the session was not renewed', async () => {
    const { session, acquire } = await opened();
    const asked = wanted();
    const [reply] = await acquire(asked);
    expect(await sql(ACQUIRE('old'))).toEqual([]);
    await moved(session.nonce, -2 * TTL_MS);
    await sql(`UPDATE ${table} SET expires_at = expires_at - interval '20 s' WHERE space = '${SPACE}'`);
    expect(await sql(ACQUIRE('old'))).toEqual([{ fence: `${fenceOf(reply) + 1}` }]);
    expect(await store.inspect(['r'])).toMatchObject([{ holder: 'old' }]);
    expect(await store.release([asked])).toEqual([false]);
    expect(await (await opened({ holder: 'pod/2' })).acquire(wanted())).toMatchObject([{ acquired: false }]);
  });
});
