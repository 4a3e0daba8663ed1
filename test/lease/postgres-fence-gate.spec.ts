import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StaleFenceError, parseFence } from '@fencepost/lease';
import { createFenceTable } from '@fencepost/lease/postgres';
import { PostgresFenceGate } from '@fencepost/lease/sinks';
import { fenceGateContract } from '../contracts/fence-gate.contract.js';
import { postgresSandbox } from '../support/postgres-sandbox.js';
import type { PostgresSandbox } from '../support/postgres-sandbox.js';
import { postgresForTests } from '../support/postgres.js';
import type { TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await postgresForTests();
});
afterAll(() => postgres?.stop());

let sandbox: PostgresSandbox;
beforeEach(async () => {
  sandbox = postgresSandbox(postgres.url);
  await createFenceTable(sandbox.pool, { schema: sandbox.schema });
});
afterEach(() => sandbox.close());

fenceGateContract('a gate in PostgreSQL', (options) => {
  return new PostgresFenceGate({ client: sandbox.pool, schema: sandbox.schema, ...options });
});

describe('a gate in PostgreSQL', () => {
  const [OLDER, NEWER] = [parseFence('41'), parseFence('42')];
  const gate = (client = sandbox.pool) => new PostgresFenceGate({ client, schema: sandbox.schema });

  it('locks the resource for the whole transaction, also when the fence is not a new one', async () => {
    await gate().admit('r', OLDER);
    const connection = await sandbox.pool.connect();
    await connection.query('BEGIN');
    await new PostgresFenceGate({ client: connection, schema: sandbox.schema }).admit('r', OLDER);
    const newer = gate().admit('r', NEWER);
    await sandbox.untilBlocked(1);
    await connection.query('ROLLBACK');
    connection.release();
    await newer;
    await expect(gate().admit('r', OLDER)).rejects.toThrow(StaleFenceError);
  });

  it('forgets an admission that was rolled back', async () => {
    const connection = await sandbox.pool.connect();
    await connection.query('BEGIN');
    await new PostgresFenceGate({ client: connection, schema: sandbox.schema }).admit('r', NEWER);
    await connection.query('ROLLBACK');
    connection.release();
    await gate().admit('r', OLDER);
    expect((await sandbox.pool.query(`SELECT fence FROM "${sandbox.schema}".fences`)).rows).toEqual([
      { fence: `${OLDER}` },
    ]);
  });
});
