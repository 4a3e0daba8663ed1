import { afterAll, beforeAll } from 'vitest';
import { PostgresAlarmBook } from '../../libs/jobs/src/alarms/postgres-alarm-book.js';
import { PostgresCatalog } from '../../libs/ledger/src/catalog/postgres-catalog.js';
import { PostgresAuditTrail } from '../../libs/ledger/src/audit-trail/postgres-audit-trail.js';
import { alarmBookContract } from '../contracts/alarm-book.contract.js';
import { auditTrailContract, KEPT } from '../contracts/audit-trail.contract.js';
import { catalogContract } from '../contracts/catalog.contract.js';
import { ZONE_DATA } from '../contracts/catalog/stage.js';
import { postgresLedgerRoom, type PostgresLedgerRoom } from '../support/postgres-ledger-room.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { redisSpaces } from './redis-space.js';

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

const spaces = redisSpaces();
const fresh = () => ({ pool: room.pool, schema: room.schema, ...spaces.fresh() });

catalogContract('the PostgreSQL catalog', async () => {
  const options = { ...fresh(), redis: spaces.redis(), zoneData: ZONE_DATA };
  const space = `${options.prefix}:${options.tenant}`;
  return {
    catalog: new PostgresCatalog(options),
    elsewhere: new PostgresCatalog(options),
    now: () => room.now(),
    age: async (ms) => {
      await room.pool.query(`update "${room.schema}".catalog_cron set delete_at = delete_at - $2 where space = $1`, [
        space,
        ms,
      ]);
    },
    wipe: async () => {
      for (const table of ['state', 'cron', 'generation', 'build', 'forgotten'])
        await room.pool.query(`delete from "${room.schema}".catalog_${table} where space = $1`, [space]);
    },
  };
});

auditTrailContract('the PostgreSQL audit trail', async () => {
  const options = { ...fresh(), keep: KEPT };
  return { trail: new PostgresAuditTrail(options), elsewhere: new PostgresAuditTrail(options), now: () => room.now() };
});

alarmBookContract('the PostgreSQL book of alarms', async () => {
  return { book: new PostgresAlarmBook(fresh()), now: () => room.now() };
});
