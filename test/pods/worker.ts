import 'reflect-metadata';
import { Module } from '@nestjs/common';
import type { DynamicModule, Type } from '@nestjs/common';
import { OperationsModule } from '@fencepost/operations';
import { bootPod, PodModule, type PodEnvironment } from '@fencepost/pod';
import { ChaosSinkModule } from './chaos-sink.js';
import { BAD_CRONS } from './crons/bad.js';
import { Book } from './crons/book.js';
import { Canary } from './crons/canary.js';
import { ChaosBooked } from './crons/chaos-booked.js';
import { ChaosAsked, ChaosControl, ChaosFenced, ChaosItems, ChaosKeyed } from './crons/chaos.js';
import { Echo } from './crons/echo.js';
import { Kept } from './crons/kept.js';
import { Many } from './crons/many.js';
import { Shown } from './crons/shown.js';
import { Steps } from './crons/steps.js';
import { Tick } from './crons/tick.js';
import { OperateController } from './operate.controller.js';
import { SinkModule } from './sink.module.js';

const CRONS: Readonly<Record<string, readonly Type[]>> = {
  ...{ tick: [Tick], steps: [Steps], echo: [Echo], many: [Many], book: [Book], canary: [Canary] },
  shown: [Shown],
  chaos: [ChaosFenced, ChaosKeyed, ChaosAsked, ChaosItems, ChaosControl],
  'chaos-booked': [ChaosBooked],
  kept: [Kept],
  ...BAD_CRONS,
};

/** A worker pod as an app makes one, with the crons that `CRONS` names. */
@Module({})
class TestWorkerModule {
  static forRoot(environment: PodEnvironment): DynamicModule {
    const pod = PodModule.forRoot('worker', environment, OperationsModule);
    const names = (process.env['CRONS'] ?? '').split(',').filter((name) => name !== '');
    const providers = names.flatMap((name) => CRONS[name] ?? []);
    const controllers = [OperateController];
    const sinks = [
      SinkModule.on(pod),
      ...(names.some((name) => name.startsWith('chaos')) ? [ChaosSinkModule.on(pod)] : []),
    ];
    return { module: TestWorkerModule, imports: [pod, ...sinks], providers, controllers };
  }
}

await bootPod({ name: 'test worker', defaultPort: 0, module: (environment) => TestWorkerModule.forRoot(environment) });
