import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { CronOrdersController } from './cron-orders.controller.js';
import { CronsController } from './crons.controller.js';
import { CronDirectory } from './cron-directory.js';
import { DeploymentController } from './deployment.controller.js';
import { EventsController } from './events.controller.js';
import { LeasesController } from './leases.controller.js';
import { CommandService } from './command-service.js';
import { OverviewService } from './overview-service.js';
import { ReadGate, ReadGateInterceptor } from './read-gate.js';
import { RunOrdersController } from './run-orders.controller.js';
import { RunsController } from './runs.controller.js';
import { SessionController } from './session.controller.js';

/** Everything under `/api`. */
@Module({})
export class ApiModule {
  /**
   * @param pod the module that provides the operators and the stores
   * @param auth the module that says who may come in
   */
  static on(pod: DynamicModule, auth: DynamicModule): DynamicModule {
    return {
      module: ApiModule,
      imports: [pod, auth],
      controllers: [
        CronsController,
        CronOrdersController,
        RunsController,
        RunOrdersController,
        LeasesController,
        DeploymentController,
        EventsController,
        SessionController,
      ],
      providers: [CronDirectory, CommandService, OverviewService, ReadGate, ReadGateInterceptor],
      exports: [CronDirectory, CommandService, ReadGate],
    };
  }
}
