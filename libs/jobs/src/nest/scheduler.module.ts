import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { AlarmRunner } from './alarm-runner.js';
import { SchedulerRunner } from './scheduler-runner.js';

/** The scheduler role: acquires the leases of crons and enqueues their occurrences. Holds no user code. */
@Module({})
export class SchedulerModule {
  /**
   * @param core the module both roles stand on
   * @param operating the module that has the queue
   */
  static on(core: DynamicModule, operating: DynamicModule): DynamicModule {
    return { module: SchedulerModule, imports: [core, operating], providers: [SchedulerRunner, AlarmRunner] };
  }
}
