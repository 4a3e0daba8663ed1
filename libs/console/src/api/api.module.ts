import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnModuleDestroy } from '@nestjs/common';
import { CLOCK } from '@fencepost/lease/nest';
import type { Clock } from '@fencepost/lease';
import { JournalFeed } from '@fencepost/operations/journal';
import { CronDirectory, READS, type Reads } from '@fencepost/operations/internal';
import { BulkOrdersController } from './bulk-orders.controller.js';
import { CronDefinitionController } from './cron-definition.controller.js';
import { CronFilesController } from './cron-files.controller.js';
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
import { RunBatchController } from './run-batch.controller.js';
import { ReceiversController } from './receivers.controller.js';
import { RunOrdersController } from './run-orders.controller.js';
import { RunsController } from './runs.controller.js';
import { SessionController } from './session.controller.js';
import { TriageController } from './triage.controller.js';

/** One for all that look: what is the same for everybody is read once in two seconds. */
const cronDirectory = {
  provide: CronDirectory,
  inject: [READS, CLOCK, JournalFeed],
  useFactory: (reads: Reads, clock: Clock, feed: JournalFeed) => new CronDirectory(reads, clock, feed),
};

/** Everything under `/api`. */
@Module({})
export class ApiModule implements OnModuleDestroy {
  constructor(@Inject(CronDirectory) private readonly directory: CronDirectory) {}

  /**
   * @param pod the module that provides the operators and the stores
   * @param auth the module that says who may come in
   */
  static on(pod: DynamicModule, auth: DynamicModule): DynamicModule {
    return {
      module: ApiModule,
      imports: [pod, auth],
      controllers: [
        // Before the one whose names of crons would take theirs.
        CronFilesController,
        CronsController,
        BulkOrdersController,
        CronOrdersController,
        CronDefinitionController,
        RunsController,
        RunBatchController,
        RunOrdersController,
        LeasesController,
        OwnLeasesController,
        DeploymentController,
        MutesController,
        ReceiversController,
        EventsController,
        SessionController,
        TriageController,
      ],
      providers: [cronDirectory, CommandService, OverviewService, ReadGate, ReadGateInterceptor],
      exports: [CronDirectory, CommandService, ReadGate],
    };
  }
  onModuleDestroy(): void {
    this.directory.stop();
  }
}
