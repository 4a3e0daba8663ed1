import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { closeRedis } from '@fencepost/lease';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import type { Redis } from 'ioredis';
import { CronExplorer } from './cron-explorer.js';
import { WORKER_REDIS } from './tokens.js';
import { WorkerRunner } from './worker-runner.js';

/** Longer than a worker's blocking fetch (5 s), short enough to notice a server that froze. */
const COMMAND_TIMEOUT_MS = 15_000;

/** The worker role: declares this process' crons and carries out their runs. */
@Module({})
export class WorkerModule implements OnApplicationShutdown {
  constructor(@Inject(WORKER_REDIS) private readonly redis: Redis) {}

  /**
   * @param core the module both roles stand on
   * @param operating the module that enqueues jobs
   */
  static on(core: DynamicModule, operating: DynamicModule): DynamicModule {
    return {
      module: WorkerModule,
      imports: [core, operating, DiscoveryModule],
      providers: [
        CronExplorer,
        WorkerRunner,
        {
          provide: WORKER_REDIS,
          inject: [LEASE_REDIS],
          // BullMQ's fetch has to outlive a reconnection, so it may be sent again as often as it takes.
          useFactory: (redis: Redis) =>
            redis.duplicate({
              connectionName: 'fencepost-worker',
              maxRetriesPerRequest: null,
              commandTimeout: COMMAND_TIMEOUT_MS,
            }),
        },
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await closeRedis(this.redis);
  }
}
