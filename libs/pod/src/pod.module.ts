import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnModuleInit } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { type Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import { JobsModule, logEvents, Telemetry, type Role } from '@fencepost/jobs';
import { LoggerModule, PinoLogger } from 'nestjs-pino';
import { HealthController } from './health.controller.js';
import type { PodEnvironment } from './environment.js';

/** What every pod has, whatever its role: the jobs library, logs, and answers to health checks. */
@Module({})
export class PodModule implements OnModuleInit {
  constructor(
    @Inject(Telemetry) private readonly telemetry: Telemetry,
    @Inject(PinoLogger) private readonly pino: PinoLogger,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  static forRoot(role: Role, environment: PodEnvironment): DynamicModule {
    const jobs = JobsModule.forRoot({ roles: [role], ...environment.jobs });
    return {
      module: PodModule,
      imports: [jobs, logger(role, environment), TerminusModule.forRoot({ logger: false })],
      controllers: [HealthController],
      exports: [jobs],
    };
  }

  onModuleInit(): void {
    logEvents(this.telemetry, this.pino.logger, this.clock);
  }
}

function logger(role: Role, { logLevel, pod }: PodEnvironment): DynamicModule {
  return LoggerModule.forRoot({
    // Health checks come every few seconds; a line each would be most of the log.
    pinoHttp: { level: logLevel, autoLogging: false, base: { role, pod } },
  });
}
