import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { PodModule, type PodEnvironment } from '@fencepost/pod';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import type { LeaseObserver } from '@fencepost/lease';
import { LEASE_OBSERVER, LEASE_REDIS } from '@fencepost/lease/nest';
import { LatencyReport } from './jobs/latency-report.js';
import { Pulse } from './jobs/pulse.js';
import { Snapshot } from './jobs/snapshot.js';

/** Where the jobs of this app write: rows that refuse a stale writer, which is counted, and recognise a repeated one. */
@Module({})
class SinkModule {
  /** @param pod the module that provides connection and settings */
  static on(pod: DynamicModule): DynamicModule {
    return {
      module: SinkModule,
      imports: [pod],
      providers: [
        {
          provide: RedisFencedRows,
          inject: [LEASE_REDIS, LEASE_OBSERVER, JOBS_SETTINGS],
          useFactory: (redis: RedisClient, observe: LeaseObserver, { prefix, tenant }: JobsSettings) =>
            new RedisFencedRows({ redis, prefix, tenant, table: 'sink', observe }),
        },
      ],
      exports: [RedisFencedRows, pod],
    };
  }
}

/** A pod that runs attempts. The jobs are plain providers. */
@Module({})
export class WorkerAppModule {
  static forRoot(environment: PodEnvironment): DynamicModule {
    const pod = PodModule.forRoot('worker', environment);
    return {
      module: WorkerAppModule,
      imports: [pod, SinkModule.on(pod)],
      providers: [Pulse, LatencyReport, Snapshot],
    };
  }
}
