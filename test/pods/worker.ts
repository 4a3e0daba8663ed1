import 'reflect-metadata';
import { Module, Body, Controller, Inject, Injectable, Param, Post } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, Type } from '@nestjs/common';
import { OperationsModule, CronOperator } from '@fencepost/operations';
import { bootPod, PodModule, type PodEnvironment } from '@fencepost/pod';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import { ChaosSinkModule } from './chaos-sink.js';
import { BAD_CRONS } from './crons/bad.js';
import { Book } from './crons/book.js';
import { Canary } from './crons/canary.js';
import { ChaosBooked } from './crons/chaos-booked.js';
import { ChaosAsked, ChaosControl, ChaosFenced, ChaosItems, ChaosKeyed } from './crons/chaos.js';
import { Echo, Kept, Many, Steps, Tick } from './crons/plain.js';
import { Shown } from './crons/shown.js';

/** Where the crons of a test write, and where the test reads what really happened. */
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
          inject: [LEASE_REDIS, JOBS_SETTINGS],
          useFactory: (redis: RedisClient, { prefix, tenant }: JobsSettings) =>
            new RedisFencedRows({ redis, prefix, tenant, table: 'test-sink' }),
        },
      ],
      exports: [RedisFencedRows, pod],
    };
  }
}

/** Lets a test have a worker pod trigger a cron, as a page or a web hook of an app would. */
@Controller('operate')
class OperateController {
  constructor(@Inject(CronOperator) private readonly operator: CronOperator) {}

  @Post('trigger/:cron')
  trigger(@Param('cron') cron: string, @Body() order: { by: string; payload?: unknown }): Promise<unknown> {
    return this.operator.trigger(cron, order);
  }
}

/** As a hook of a user's that waits for a reply which never comes. */
@Injectable()
class NeverStops implements OnApplicationShutdown {
  onApplicationShutdown(): Promise<void> {
    return new Promise(() => {});
  }
}

const CRONS: Readonly<Record<string, readonly Type[]>> = {
  ...{ tick: [Tick], steps: [Steps], echo: [Echo], many: [Many], book: [Book], canary: [Canary] },
  shown: [Shown],
  chaos: [ChaosFenced, ChaosKeyed, ChaosAsked, ChaosItems, ChaosControl],
  'chaos-booked': [ChaosBooked],
  kept: [Kept],
  'never-stops': [NeverStops],
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
