import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown } from '@nestjs/common';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import type { Redis } from 'ioredis';
import { BullmqRunQueue } from '../scheduling/bullmq-run-queue.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { insist } from './insist.js';
import type { JobsSettings } from './options.js';
import { SchedulerRunner } from './scheduler-runner.js';
import { JOBS_SETTINGS, RUN_QUEUE } from './tokens.js';

/** The scheduler role: campaigns for crons and enqueues their occurrences. Holds no user code. */
@Module({})
export class SchedulerModule implements OnApplicationShutdown {
  constructor(@Inject(RUN_QUEUE) private readonly queue: BullmqRunQueue) {}

  /** @param core the module both roles stand on */
  static on(core: DynamicModule): DynamicModule {
    return {
      module: SchedulerModule,
      imports: [core],
      providers: [
        SchedulerRunner,
        {
          provide: RUN_QUEUE,
          inject: [LEASE_REDIS, JOBS_SETTINGS, Telemetry],
          useFactory: (redis: Redis, { prefix, tenant }: JobsSettings, telemetry: Telemetry) =>
            insist(() =>
              BullmqRunQueue.open({
                redis,
                prefix,
                tenant,
                onTrouble: (error) => telemetry.emit('queue.trouble', { doing: 'the queue', error: String(error) }),
              }),
            ),
        },
      ],
      exports: [RUN_QUEUE],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.queue.close();
  }
}
