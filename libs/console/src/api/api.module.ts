import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { CLOCK } from '@fencepost/lease/nest';
import type { Clock } from '@fencepost/lease';
import { CronDirectory, READS, type Reads } from '@fencepost/operations/internal';
import { CronOrdersController } from './cron-orders.controller.js';
import { CronsController } from './crons.controller.js';
import { DeploymentController } from './deployment.controller.js';
import { EventsController } from './events.controller.js';
import { LeasesController } from './leases.controller.js';
import { OwnLeasesController } from './own-leases.controller.js';
import { CommandService } from './command-service.js';
import { OverviewService } from './overview-service.js';
import { MutesController } from './mutes.controller.js';
import { ReadGate, ReadGateInterceptor } from './read-gate.js';
import { ReceiversController } from './receivers.controller.js';
import { RunOrdersController } from './run-orders.controller.js';
import { RunsController } from './runs.controller.js';
import { SessionController } from './session.controller.js';

/** One for all that look: what is the same for everybody is read once in two seconds. */
const cronDirectory = {
  provide: CronDirectory,
  inject: [READS, CLOCK],
  useFactory: (reads: Reads, clock: Clock) => new CronDirectory(reads, clock),
};

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
        OwnLeasesController,
        DeploymentController,
        MutesController,
        ReceiversController,
        EventsController,
        SessionController,
      ],
      providers: [cronDirectory, CommandService, OverviewService, ReadGate, ReadGateInterceptor],
      exports: [CronDirectory, CommandService, ReadGate],
    };
  }
}
