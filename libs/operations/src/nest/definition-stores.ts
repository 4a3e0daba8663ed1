import { inDatabase, type Database, type DefinitionPlace } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import type { AlarmStore } from '../alarms/alarm-store.js';
import { PostgresAlarmStore } from '../alarms/postgres-alarm-store.js';
import { RedisAlarmStore } from '../alarms/redis-alarm-store.js';

export function openAlarmStore(
  redis: RedisClient,
  database: Pick<Database, 'pool'> | null,
  settings: DefinitionPlace,
): AlarmStore {
  const { prefix, tenant } = settings;
  const place = inDatabase(database, settings);
  return place ? new PostgresAlarmStore(place) : new RedisAlarmStore({ redis, prefix, tenant });
}
