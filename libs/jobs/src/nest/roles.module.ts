import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import { workerCopyOf } from './redis-copy.js';
import { SCHEDULER, WORKER_REDIS } from './tokens.js';

/*
 * The module of each role. What the role does is imported when a process asks for the role, so a worker never loads a scheduler:
 * it starts sooner, needs less memory, and a fault in code that it doesn't use can't stop it. The classes stand here, because
 * `JobsModule` names what it exports before anything is imported.
 */

/** The scheduler role: acquires the leases of crons and enqueues their occurrences. Holds no user code. */
@Module({})
export class SchedulerModule {
  /**
   * @param core the module both roles stand on
   * @param enqueuing the module that has the queue
   */
  static async on(core: DynamicModule, enqueuing: DynamicModule): Promise<DynamicModule> {
    const { SchedulerRunner } = await import('./scheduler-runner.js');
    return {
      module: SchedulerModule,
      imports: [core, enqueuing],
      providers: [{ provide: SCHEDULER, useClass: SchedulerRunner }],
      exports: [SCHEDULER],
    };
  }
}

/** The worker role: declares this process' crons and executes their runs. */
@Module({})
export class WorkerModule implements OnApplicationShutdown {
  constructor(@Inject(WORKER_REDIS) private readonly redis: RedisClient) {}

  /**
   * @param core the module both roles stand on
   * @param enqueuing the module that enqueues jobs
   */
  static async on(core: DynamicModule, enqueuing: DynamicModule): Promise<DynamicModule> {
    const [{ WorkerRunner }, { CronExplorer }, { RunNotifications }] = await Promise.all([
      import('./worker-runner.js'),
      import('./cron-explorer.js'),
      import('./run-notifications.js'),
    ]);
    return {
      module: WorkerModule,
      imports: [core, enqueuing, DiscoveryModule],
      providers: [
        ...[CronExplorer, WorkerRunner, RunNotifications],
        { provide: WORKER_REDIS, inject: [LEASE_REDIS], useFactory: workerCopyOf },
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await closeRedis(this.redis);
  }
}
