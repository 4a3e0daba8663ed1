import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { SchedulerRunner } from './scheduler-runner.js';

/** The scheduler role: acquires the leases of crons and enqueues their occurrences. Holds no user code. */
@Module({})
export class SchedulerModule {
  /**
   * @param core the module both roles stand on
   * @param enqueuing the module that has the queue
   */
  static on(core: DynamicModule, enqueuing: DynamicModule): DynamicModule {
    return {
      module: SchedulerModule,
      imports: [core, enqueuing],
      providers: [SchedulerRunner],
      exports: [SchedulerRunner],
    };
  }
}
