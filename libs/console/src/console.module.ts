import { forwardRef, Inject, Module } from '@nestjs/common';
import type { DynamicModule, InjectionToken, NestModule, Provider } from '@nestjs/common';
import { LEDGER, Telemetry } from '@fencepost/jobs';
import { JOBS_SETTINGS, newestJobsModule, RUN_QUEUE } from '@fencepost/jobs/internal';
import { SetupError } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import {
  AUDIT_TRAIL,
  CronCatalog,
  CronOperator,
  Doctor,
  ExplainService,
  Forecasts,
  LeaseService,
  OperationsModule,
  RunOperator,
  Timelines,
} from '@fencepost/operations';
import { Mutes, READS, Receivers } from '@fencepost/operations/internal';
import { JournalFeed } from '@fencepost/operations/journal';
import { ConsoleServer, HOST, IS_JOBS_GIVEN, SETTINGS } from './console-server.js';
import { consoleSettings, type ConsoleOptions, type ConsoleOptionsSource, type OfJobs } from './options.js';

/** What the console takes from the application that it is mounted in. */
const TAKEN: InjectionToken[] = [
  ...[JOBS_SETTINGS, CLOCK, Telemetry, LEDGER, RUN_QUEUE, READS, AUDIT_TRAIL],
  ...[
    CronCatalog,
    CronOperator,
    RunOperator,
    LeaseService,
    Timelines,
    ExplainService,
    Forecasts,
    Doctor,
    JournalFeed,
    Mutes,
    Receivers,
  ],
];

const host: Provider = {
  provide: HOST,
  inject: TAKEN,
  useFactory: (...values: unknown[]) => TAKEN.map((provide, index) => ({ provide, useValue: values[index] })),
};

/**
 * The console of Fencepost in any Nest application: `ConsoleModule.forRoot({ path: '/crons', auth })` beside `JobsModule`. Below
 * that path are the page, its API at `api`, Bull Board at `queues` and the description of the API at `docs`. It changes nothing
 * about the application's own routes, and the application's global pipes, guards, filters and interceptors do not reach it.
 */
@Module({})
export class ConsoleModule implements NestModule {
  constructor(@Inject(ConsoleServer) private readonly server: ConsoleServer) {}

  /** @throws {SetupError} naming each wrong option, what was expected, and what came */
  static forRoot({ jobs, ...options }: ConsoleOptions & OfJobs): DynamicModule {
    const settings = consoleSettings(options);
    return moduleOf({ provide: SETTINGS, useValue: settings }, jobs);
  }

  static forRootAsync({ jobs, imports = [], inject = [], useFactory }: ConsoleOptionsSource & OfJobs): DynamicModule {
    const make = async (...args: never[]) => consoleSettings(await useFactory(...args));
    return moduleOf({ provide: SETTINGS, inject, useFactory: make }, jobs, imports);
  }

  configure(): void {
    this.server.mount();
  }
}

function moduleOf(
  settings: Provider,
  given: DynamicModule | undefined,
  imports: NonNullable<DynamicModule['imports']> = [],
): DynamicModule {
  // By the time an application looks at its imports, all of them have been made, in whatever order they stand.
  const jobs = () => given ?? newestOrRefused();
  return {
    module: ConsoleModule,
    imports: [...imports, forwardRef(jobs), forwardRef(() => OperationsModule.on(jobs()))],
    providers: [settings, host, ConsoleServer, { provide: IS_JOBS_GIVEN, useValue: given !== undefined }],
  };
}

function newestOrRefused(): DynamicModule {
  const jobs = newestJobsModule();
  if (jobs) return jobs;
  throw new SetupError(
    'ConsoleModule needs a JobsModule: add JobsModule.forRoot(...) to the imports of the application.',
  );
}
