import { Module } from '@nestjs/common';
import type { DynamicModule, FactoryProvider, ModuleMetadata } from '@nestjs/common';
import { LEASE_REDIS, LeaseModule, type LeaseModuleOptions } from '@fencepost/lease/nest';
import type { Redis } from 'ioredis';
import { RedisCatalog } from '../catalog/redis-catalog.js';
import { RedisLedger } from '../ledger/redis-ledger.js';
import { RedisPresence } from '../scheduling/redis-presence.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { jobsSettings, type JobsModuleOptions, type JobsSettings } from './options.js';
import { CATALOG, JOBS_SETTINGS, LEDGER, PRESENCE, RANDOM } from './tokens.js';

/** Where the options come from; the shape Nest users know from other modules' `forRootAsync`. */
export interface JobsOptionsSource extends Pick<ModuleMetadata, 'imports'> {
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory: (...args: never[]) => JobsModuleOptions | Promise<JobsModuleOptions>;
}

@Module({})
class JobsSettingsModule {}

/** What both roles stand on: the settings, one Redis connection, ledger, catalog, presence, and the list of events. */
@Module({})
export class JobsCoreModule {
  static forRootAsync(source: JobsOptionsSource): DynamicModule {
    const settings = settingsModule(source);
    const lease = LeaseModule.forRootAsync({ imports: [settings], inject: [JOBS_SETTINGS], useFactory: leaseOptions });
    return {
      module: JobsCoreModule,
      imports: [settings, lease],
      providers: [
        { provide: RANDOM, useValue: Math.random },
        {
          provide: LEDGER,
          inject: [LEASE_REDIS, JOBS_SETTINGS],
          useFactory: (redis: Redis, { prefix, tenant }: JobsSettings) => new RedisLedger({ redis, prefix, tenant }),
        },
        {
          provide: CATALOG,
          inject: [LEASE_REDIS, JOBS_SETTINGS],
          useFactory: (redis: Redis, { prefix, tenant }: JobsSettings) => new RedisCatalog({ redis, prefix, tenant }),
        },
        {
          provide: PRESENCE,
          inject: [LEASE_REDIS, JOBS_SETTINGS],
          useFactory: (redis: Redis, { prefix, tenant }: JobsSettings) => new RedisPresence({ redis, prefix, tenant }),
        },
      ],
      exports: [settings, lease, LEDGER, CATALOG, PRESENCE, RANDOM],
    };
  }
}

function settingsModule({ imports = [], inject = [], useFactory }: JobsOptionsSource): DynamicModule {
  return {
    module: JobsSettingsModule,
    imports,
    providers: [
      Telemetry,
      {
        provide: JOBS_SETTINGS,
        inject,
        useFactory: async (...args: never[]) => jobsSettings(await useFactory(...args)),
      },
    ],
    exports: [JOBS_SETTINGS, Telemetry],
  };
}

function leaseOptions({ redis, prefix, tenant, leaseTtlMs, pod }: JobsSettings): LeaseModuleOptions {
  return { redis, prefix, tenant, ttl: leaseTtlMs, ...(pod === undefined ? {} : { holder: pod }) };
}
