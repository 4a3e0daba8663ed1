import { alarmStoreContract } from '../../../../test/contracts/alarm-store.contract.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { usePostgresLedger } from '../../../../test/support/postgres-ledger-sandbox.js';
import { PostgresAlarmStore } from './postgres-alarm-store.js';
import { RedisAlarmStore } from './redis-alarm-store.js';

const spaces = redisSpaces();
const postgres = usePostgresLedger();

alarmStoreContract('the Redis book', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  const now = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  return { store: new RedisAlarmStore({ redis, ...space }), now };
});

alarmStoreContract('the PostgreSQL book of alarms', async () => {
  const { pool, schema } = postgres.sandbox;
  return { store: new PostgresAlarmStore({ pool, schema, ...spaces.fresh() }), now: () => postgres.sandbox.now() };
});
