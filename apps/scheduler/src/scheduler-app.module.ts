import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { PodModule, type PodEnvironment } from '@fencepost/pod';
import { QueuesBoardModule } from './bull-board.module.js';

/** A pod that campaigns for crons, claims their occurrences and enqueues them. Holds no user code. */
@Module({})
export class SchedulerAppModule {
  static forRoot(environment: PodEnvironment): DynamicModule {
    const pod = PodModule.forRoot('scheduler', environment);
    return { module: SchedulerAppModule, imports: [pod, QueuesBoardModule.on(pod)] };
  }
}
