import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import { CronExplorer } from './cron-explorer.js';
import { RunNotifications } from './run-notifications.js';
import { workerCopyOf } from './redis-copy.js';
import { WORKER_REDIS } from './tokens.js';
import { WorkerRunner } from './worker-runner.js';

/** The worker role: declares this process' crons and carries out their runs. */
@Module({})
export class WorkerModule implements OnApplicationShutdown {
  constructor(@Inject(WORKER_REDIS) private readonly redis: RedisClient) {}

  /**
   * @param core the module both roles stand on
   * @param enqueuing the module that enqueues jobs
   */
  static on(core: DynamicModule, enqueuing: DynamicModule): DynamicModule {
    return {
      module: WorkerModule,
      imports: [core, enqueuing, DiscoveryModule],
      providers: [
        CronExplorer,
        WorkerRunner,
        RunNotifications,
        { provide: WORKER_REDIS, inject: [LEASE_REDIS], useFactory: workerCopyOf },
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await closeRedis(this.redis);
  }
}
