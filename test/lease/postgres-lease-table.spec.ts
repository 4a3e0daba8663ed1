import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '@fencepost/lease';
import { createFenceTable, createLeaseTable, PostgresLeaseStore } from '@fencepost/lease/postgres';
import { request } from '../support/lease-requests.js';
import { postgresSandbox } from '../support/postgres-sandbox.js';
import type { PostgresSandbox } from '../support/postgres-sandbox.js';
import { postgresForTests } from '../support/postgres.js';
import type { TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await postgresForTests();
});
afterAll(() => postgres?.stop());

describe('the table of leases', () => {
  let sandbox: PostgresSandbox;
  beforeEach(() => {
    sandbox = postgresSandbox(postgres.url);
  });
  afterEach(() => sandbox.close());

  const store = () => new PostgresLeaseStore({ client: sandbox.pool, schema: sandbox.schema });

  it('is made once by ten who start at once, each with a connection of its own', async () => {
    const pools = Array.from({ length: 10 }, () => sandbox.another({ max: 1 }));
    await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
    await Promise.all(pools.map((pool) => createLeaseTable(pool, { schema: sandbox.schema })));
    expect(await store().acquire(request())).toMatchObject({ acquired: true });
  });

  it('waits for somebody who is just making it', async () => {
    const lock = `SELECT pg_advisory_xact_lock(7310579598273)`;
    const other = await sandbox.transaction(`${lock}; CREATE SCHEMA "${sandbox.schema}"`);
    const made = createLeaseTable(sandbox.pool, { schema: sandbox.schema });
    await sandbox.untilBlocked(1);
    await other.commit();
    await made;
    expect(await store().inspect(['r'])).toEqual([null]);
  });

  it('keeps what is in it when it is made again', async () => {
    await createLeaseTable(sandbox.pool, { schema: sandbox.schema });
    await store().acquire(request({ holder: 'pod/7' }));
    await createLeaseTable(sandbox.pool, { schema: sandbox.schema });
    expect(await store().inspect(['r'])).toMatchObject([{ holder: 'pod/7' }]);
  });

  it('is enough for a role that may not create anything', async () => {
    const role = sandbox.schema;
    await createLeaseTable(sandbox.pool, { schema: sandbox.schema });
    await sandbox.pool.query(`
      CREATE ROLE "${role}";
      GRANT USAGE ON SCHEMA "${sandbox.schema}" TO "${role}";
      GRANT SELECT, INSERT, UPDATE ON "${sandbox.schema}".leases TO "${role}"`);
    const pool = sandbox.another({ options: `-c role=${role}` });
    await createLeaseTable(pool, { schema: sandbox.schema });
    const poor = new PostgresLeaseStore({ client: pool, schema: sandbox.schema });
    const asked = request();
    expect(await poor.acquire(asked)).toMatchObject({ acquired: true });
    expect(await poor.release([asked])).toEqual([true]);
    await sandbox.pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
  });

  it.each([
    ['of a newer release', `COMMENT ON TABLE "$".leases IS 'fencepost leases v2'`, '"fencepost leases v2"'],
    ["that is somebody else's", `COMMENT ON TABLE "$".leases IS NULL`, 'null'],
  ])('is refused when it is one %s', async (_what, change, shown) => {
    await createLeaseTable(sandbox.pool, { schema: sandbox.schema });
    await sandbox.pool.query(change.replace('$', sandbox.schema));
    const refused = createLeaseTable(sandbox.pool, { schema: sandbox.schema });
    await expect(refused).rejects.toThrow(SetupError);
    await expect(refused).rejects.toThrow(
      `to have the comment "fencepost leases v1", got ${shown}. It belongs to another program`,
    );
  });

  it('may have any name, next to a table of fences in the same schema', async () => {
    const names = { schema: sandbox.schema, table: 'Quoted "Names" too' };
    await Promise.all([
      createLeaseTable(sandbox.pool, names),
      createFenceTable(sandbox.pool, { schema: sandbox.schema }),
    ]);
    const named = new PostgresLeaseStore({ client: sandbox.pool, ...names });
    expect(await named.acquire(request())).toMatchObject({ acquired: true });
  });
});
