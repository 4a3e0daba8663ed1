import { afterAll, beforeAll } from 'vitest';
import { ledgerContract } from '../../libs/testing/src/ledger-contract/index.js';
import { postgresLedgerSandbox, type PostgresLedgerSandbox } from '../support/postgres-ledger-sandbox.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
let sandbox: PostgresLedgerSandbox;
beforeAll(async () => {
  postgres = await postgresForTests();
  sandbox = await postgresLedgerSandbox(postgres.url);
});
afterAll(async () => {
  await sandbox?.close();
  await postgres?.stop();
});

ledgerContract('the PostgreSQL ledger', (timing) => sandbox.harness(timing), { histories: 15 });
