import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnModuleInit } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import { JobsModule, logEvents, Telemetry, type Role } from '@fencepost/jobs';
import { MetricsModule } from '@fencepost/operations/metrics';
import { ObservingModule } from '@fencepost/operations/observing';
import { LoggerModule, PinoLogger } from 'nestjs-pino';
import { APP_FILTER } from '@nestjs/core';
import { CleanErrors, cleanLogs } from './clean-logs.js';
import { HealthController } from './health.controller.js';
import type { PodEnvironment } from './environment.js';
import { MetricsAccess } from './metrics-access.js';
import { METRICS_ACCESS, MetricsController, MetricsGuard } from './metrics.controller.js';

/** `ObservingModule`, or `OperationsModule`, which a worker does not load. */
interface SeenThrough {
  on(jobs: DynamicModule): DynamicModule;
}

/** What every pod has, whatever its role: the jobs library, logs, and answers to health checks. */
@Module({})
export class PodModule implements OnModuleInit {
  constructor(
    @Inject(Telemetry) private readonly telemetry: Telemetry,
    @Inject(PinoLogger) private readonly pino: PinoLogger,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @param seen how the pod is seen from outside: a scheduler shows all of it, a worker writes the journal and reports itself */
  static forRoot(role: Role, environment: PodEnvironment, seen: SeenThrough = ObservingModule): DynamicModule {
    const jobs = JobsModule.forRoot({ roles: [role], ...environment.jobs });
    const parts = [jobs, seen.on(jobs)];
    const metrics = MetricsModule.on(jobs, environment.metrics);
    return {
      module: PodModule,
      imports: [...parts, metrics, logger(role, environment), TerminusModule.forRoot({ logger: false })],
      controllers: [HealthController, MetricsController],
      providers: [
        { provide: APP_FILTER, useClass: CleanErrors },
        MetricsGuard,
        { provide: METRICS_ACCESS, useFactory: () => metricsAccess(environment) },
      ],
      exports: parts,
    };
  }

  onModuleInit(): void {
    logEvents(this.telemetry, this.pino.logger, this.clock);
  }
}

function metricsAccess({ host, access = {} }: PodEnvironment): MetricsAccess {
  const { tokens, tokensFile, authModule, metricsOpen: open } = access;
  return new MetricsAccess({ host, tokens, tokensFile, open, isForOthers: authModule !== undefined });
}

function logger(role: Role, { logLevel, pod }: PodEnvironment): DynamicModule {
  return LoggerModule.forRoot({ pinoHttp: { ...cleanLogs(), level: logLevel, base: { role, pod } } });
}
