import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { createFenceTable, createLeaseTable, PostgresLeaseStore } from '@fencepost/lease/postgres';
import { request } from '../support/lease-requests.js';
import { postgresRoom } from '../support/postgres-room.js';
import type { PostgresRoom } from '../support/postgres-room.js';
import { postgresForTests } from '../support/postgres.js';
import type { TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await postgresForTests();
});
afterAll(() => postgres?.stop());

describe('the table of leases', () => {
  let room: PostgresRoom;
  beforeEach(() => {
    room = postgresRoom(postgres.url);
  });
  afterEach(() => room.close());

  const store = () => new PostgresLeaseStore({ client: room.pool, schema: room.schema });

  it('is made once by ten who start at once, each with a connection of its own', async () => {
    const pools = Array.from({ length: 10 }, () => room.another({ max: 1 }));
    await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
    await Promise.all(pools.map((pool) => createLeaseTable(pool, { schema: room.schema })));
    expect(await store().acquire(request())).toMatchObject({ acquired: true });
  });

  it('waits for somebody who is just making it', async () => {
    const lock = `SELECT pg_advisory_xact_lock(7310579598273)`;
    const other = await room.transaction(`${lock}; CREATE SCHEMA "${room.schema}"`);
    const made = createLeaseTable(room.pool, { schema: room.schema });
    await room.untilBlocked(1);
    await other.commit();
    await made;
    expect(await store().inspect(['r'])).toEqual([null]);
  });

  it('keeps what is in it when it is made again', async () => {
    await createLeaseTable(room.pool, { schema: room.schema });
    await store().acquire(request({ holder: 'pod/7' }));
    await createLeaseTable(room.pool, { schema: room.schema });
    expect(await store().inspect(['r'])).toMatchObject([{ holder: 'pod/7' }]);
  });

  it('is enough for a role that may not create anything', async () => {
    const role = room.schema;
    await createLeaseTable(room.pool, { schema: room.schema });
    await room.pool.query(`
      CREATE ROLE "${role}";
      GRANT USAGE ON SCHEMA "${room.schema}" TO "${role}";
      GRANT SELECT, INSERT, UPDATE ON "${room.schema}".leases TO "${role}"`);
    const pool = room.another({ options: `-c role=${role}` });
    await createLeaseTable(pool, { schema: room.schema });
    const poor = new PostgresLeaseStore({ client: pool, schema: room.schema });
    const asked = request();
    expect(await poor.acquire(asked)).toMatchObject({ acquired: true });
    expect(await poor.release([asked])).toEqual([true]);
    await room.pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
  });

  it.each([
    ['of a newer release', `COMMENT ON TABLE "$".leases IS 'fencepost leases v2'`, '"fencepost leases v2"'],
    ["that is somebody else's", `COMMENT ON TABLE "$".leases IS NULL`, 'null'],
  ])('is refused when it is one %s', async (_what, change, shown) => {
    await createLeaseTable(room.pool, { schema: room.schema });
    await room.pool.query(change.replace('$', room.schema));
    const refused = createLeaseTable(room.pool, { schema: room.schema });
    await expect(refused).rejects.toThrow(SetupError);
    await expect(refused).rejects.toThrow(`to have the comment "fencepost leases v1", got ${shown}. It is somebody`);
  });

  it('may have any name, next to a table of fences in the same schema', async () => {
    const names = { schema: room.schema, table: 'Quoted "Names" too' };
    await Promise.all([createLeaseTable(room.pool, names), createFenceTable(room.pool, { schema: room.schema })]);
    const named = new PostgresLeaseStore({ client: room.pool, ...names });
    expect(await named.acquire(request())).toMatchObject({ acquired: true });
  });
});
