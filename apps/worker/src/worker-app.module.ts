import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { PodModule, type PodEnvironment } from '@fencepost/pod';
import { LatencyReport } from './jobs/latency-report.js';
import { Pulse } from './jobs/pulse.js';
import { Snapshot } from './jobs/snapshot.js';
import { SinkModule } from './sink.module.js';

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
