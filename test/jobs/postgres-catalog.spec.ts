import { afterAll, beforeAll } from 'vitest';
import { PostgresAlarmStore } from '../../libs/operations/src/alarms/postgres-alarm-store.js';
import { PostgresCatalog } from '../../libs/ledger/src/postgres/postgres-catalog.js';
import { PostgresAuditTrail } from '../../libs/ledger/src/postgres/postgres-audit-trail.js';
import { alarmStoreContract } from '../contracts/alarm-store.contract.js';
import { auditTrailContract, KEPT } from '../contracts/audit-trail.contract.js';
import { catalogContract } from '../contracts/catalog.contract.js';
import { ZONE_DATA } from '../contracts/catalog/stage.js';
import { postgresLedgerSandbox, type PostgresLedgerSandbox } from '../support/postgres-ledger-sandbox.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { redisSpaces } from './redis-space.js';

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

const spaces = redisSpaces();
const fresh = () => ({ pool: sandbox.pool, schema: sandbox.schema, ...spaces.fresh() });

catalogContract('the PostgreSQL catalog', async () => {
  const options = { ...fresh(), redis: spaces.redis(), zoneData: ZONE_DATA };
  const space = `${options.prefix}:${options.tenant}`;
  return {
    catalog: new PostgresCatalog(options),
    elsewhere: new PostgresCatalog(options),
    now: () => sandbox.now(),
    age: async (ms) => {
      await sandbox.pool.query(
        `update "${sandbox.schema}".catalog_cron set delete_at = delete_at - $2 where space = $1`,
        [space, ms],
      );
    },
    wipe: async () => {
      for (const table of ['state', 'cron', 'generation', 'build', 'forgotten'])
        await sandbox.pool.query(`delete from "${sandbox.schema}".catalog_${table} where space = $1`, [space]);
    },
  };
});

auditTrailContract('the PostgreSQL audit trail', async () => {
  const options = { ...fresh(), keep: KEPT };
  return {
    trail: new PostgresAuditTrail(options),
    elsewhere: new PostgresAuditTrail(options),
    now: () => sandbox.now(),
  };
});

alarmStoreContract('the PostgreSQL book of alarms', async () => {
  return { store: new PostgresAlarmStore(fresh()), now: () => sandbox.now() };
});
