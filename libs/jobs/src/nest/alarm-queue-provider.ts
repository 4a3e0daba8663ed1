import type { Provider } from '@nestjs/common';
import type { RedisClient } from '@fencepost/lease/redis';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import { BullmqAlarmQueue } from '../notifying/bullmq-alarm-queue.js';
import { reportQueueFailure } from '../telemetry/report-failure.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { JobsSettings } from './options.js';
import { ALARM_QUEUE, JOBS_SETTINGS } from './tokens.js';

/** What others outside are to be told, put into its queue by either role. */
export const alarmQueue: Provider = {
  provide: ALARM_QUEUE,
  inject: [LEASE_REDIS, JOBS_SETTINGS, Telemetry],
  useFactory: (redis: RedisClient, { prefix, tenant }: JobsSettings, telemetry: Telemetry) => {
    const onTrouble = (error: Error) => reportQueueFailure(telemetry, { operation: 'alarm-queue.connect' }, error);
    return new BullmqAlarmQueue({ redis, prefix, tenant, onTrouble });
  },
};
