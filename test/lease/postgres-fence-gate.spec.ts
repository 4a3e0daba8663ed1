import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StaleFenceError, parseFence } from '@fencepost/lease';
import { createFenceTable } from '@fencepost/lease/postgres';
import { PostgresFenceGate } from '@fencepost/lease/sinks';
import { fenceGateContract } from '../contracts/fence-gate.contract.js';
import { postgresRoom } from '../support/postgres-room.js';
import type { PostgresRoom } from '../support/postgres-room.js';
import { postgresForTests } from '../support/postgres.js';
import type { TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await postgresForTests();
});
afterAll(() => postgres?.stop());

let room: PostgresRoom;
beforeEach(async () => {
  room = postgresRoom(postgres.url);
  await createFenceTable(room.pool, { schema: room.schema });
});
afterEach(() => room.close());

fenceGateContract('a gate in PostgreSQL', (options) => {
  return new PostgresFenceGate({ client: room.pool, schema: room.schema, ...options });
});

describe('a gate in PostgreSQL', () => {
  const [OLDER, NEWER] = [parseFence('41'), parseFence('42')];
  const gate = (client = room.pool) => new PostgresFenceGate({ client, schema: room.schema });

  it('locks the resource for the whole transaction, also when the fence is not a new one', async () => {
    await gate().admit('r', OLDER);
    const connection = await room.pool.connect();
    await connection.query('BEGIN');
    await new PostgresFenceGate({ client: connection, schema: room.schema }).admit('r', OLDER);
    const newer = gate().admit('r', NEWER);
    await room.untilBlocked(1);
    await connection.query('ROLLBACK');
    connection.release();
    await newer;
    await expect(gate().admit('r', OLDER)).rejects.toThrow(StaleFenceError);
  });

  it('forgets an admission that was rolled back', async () => {
    const connection = await room.pool.connect();
    await connection.query('BEGIN');
    await new PostgresFenceGate({ client: connection, schema: room.schema }).admit('r', NEWER);
    await connection.query('ROLLBACK');
    connection.release();
    await gate().admit('r', OLDER);
    expect((await room.pool.query(`SELECT fence FROM "${room.schema}".fences`)).rows).toEqual([{ fence: `${OLDER}` }]);
  });
});
