import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { LEASE_REDIS } from '@fencepost/lease/nest';

/** Where the crons of a test write, and where the test reads what really happened. */
@Module({})
export class SinkModule {
  /** @param pod the module that provides connection and settings */
  static on(pod: DynamicModule): DynamicModule {
    return {
      module: SinkModule,
      imports: [pod],
      providers: [
        {
          provide: RedisFencedRows,
          inject: [LEASE_REDIS, JOBS_SETTINGS],
          useFactory: (redis: RedisClient, { prefix, tenant }: JobsSettings) =>
            new RedisFencedRows({ redis, prefix, tenant, table: 'test-sink' }),
        },
      ],
      exports: [RedisFencedRows, pod],
    };
  }
}
