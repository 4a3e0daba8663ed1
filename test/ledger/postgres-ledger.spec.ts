import { afterAll, beforeAll } from 'vitest';
import { ledgerContract } from '../../libs/jobs/src/testing/ledger-contract/index.js';
import { postgresLedgerRoom, type PostgresLedgerRoom } from '../support/postgres-ledger-room.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
let room: PostgresLedgerRoom;
beforeAll(async () => {
  postgres = await postgresForTests();
  room = await postgresLedgerRoom(postgres.url);
});
afterAll(async () => {
  await room?.close();
  await postgres?.stop();
});

ledgerContract('the PostgreSQL ledger', (timing) => room.harness(timing), { histories: 15 });
