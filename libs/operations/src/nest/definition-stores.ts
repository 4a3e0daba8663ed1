import { inDatabase, type DefinitionPlace, type Pooled } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { PostgresAuditTrail, RedisAuditTrail, type AuditTrail } from '@fencepost/ledger/audit-trail';
import type { AlarmStore } from '../alarms/alarm-store.js';
import { PostgresAlarmStore } from '../alarms/postgres-alarm-store.js';
import { RedisAlarmStore } from '../alarms/redis-alarm-store.js';

export function openAuditTrail(redis: RedisClient, database: Pooled, settings: DefinitionPlace): AuditTrail {
  const { prefix, tenant } = settings;
  const place = inDatabase(database, settings);
  return place ? new PostgresAuditTrail(place) : new RedisAuditTrail({ redis, prefix, tenant });
}

export function openAlarmStore(redis: RedisClient, database: Pooled, settings: DefinitionPlace): AlarmStore {
  const { prefix, tenant } = settings;
  const place = inDatabase(database, settings);
  return place ? new PostgresAlarmStore(place) : new RedisAlarmStore({ redis, prefix, tenant });
}
