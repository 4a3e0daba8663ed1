import type { FactoryProvider } from '@nestjs/common';
import { Leases, type Clock, type LeaseStore } from '@fencepost/lease';
import { LeaseKeeper, observers } from '@fencepost/lease/internal';
import { RedisLeaseStore, type RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import { LeaseFeed } from '../telemetry/lease-feed.js';
import { leaseWarnings } from '../telemetry/lease-warnings.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { JobsSettings } from './options.js';
import { CRON_LEASE_STORE, CRON_LEASES, JOBS_SETTINGS } from './tokens.js';

type Keeping = [
  store: LeaseStore,
  own: LeaseKeeper,
  settings: JobsSettings,
  clock: Clock,
  feed: LeaseFeed,
  telemetry: Telemetry,
];

/** The leases on crons: apart from those that the application takes itself, by the same name of this process. */
export const cronLeases: FactoryProvider[] = [
  {
    provide: CRON_LEASE_STORE,
    inject: [LEASE_REDIS, JOBS_SETTINGS],
    useFactory: (redis: RedisClient, { prefix, tenant }: JobsSettings) =>
      new RedisLeaseStore({ redis, prefix, tenant, kind: 'cron' }),
  },
  {
    provide: CRON_LEASES,
    inject: [CRON_LEASE_STORE, LeaseKeeper, JOBS_SETTINGS, CLOCK, LeaseFeed, Telemetry],
    useFactory: (...[store, { holder }, { leaseTtlMs: ttl }, clock, feed, telemetry]: Keeping) =>
      new Leases({ store, clock, holder, ttl, observe: observers(feed.tellOfCron, leaseWarnings(telemetry)) }),
  },
];
