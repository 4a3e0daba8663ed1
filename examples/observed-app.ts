import { Controller, Get, Header, Inject, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { ConsoleModule } from '@fencepost/console';
import { JobsModule, StoreHealth } from '@fencepost/jobs';
import { JobsMetrics, MetricsModule } from '@fencepost/operations/metrics';

const { REDIS_URL = 'redis://localhost:6379', FENCEPOST_PREFIX: prefix, FENCEPOST_TOKENS: tokens } = process.env;
const jobs = JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis: REDIS_URL, ...(prefix && { prefix }) });

@Controller('health')
class HealthController {
  constructor(
    @Inject(HealthCheckService) private readonly health: HealthCheckService,
    @Inject(StoreHealth) private readonly stores: StoreHealth,
  ) {}

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.stores.isHealthy('fencepost')]);
  }
}

@Controller('metrics')
class MetricsController {
  constructor(@Inject(JobsMetrics) private readonly metrics: JobsMetrics) {}

  @Get()
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  show() {
    return this.metrics.registry.metrics();
  }
}

@Module({
  imports: [
    jobs,
    ConsoleModule.forRoot({ path: '/crons', auth: tokens ? { tokens } : 'none' }), // 'none': every program on this machine
    MetricsModule.on(jobs), // { registry: register } of prom-client adds them to metrics of your own
    TerminusModule,
  ],
  controllers: [HealthController, MetricsController],
})
export class AppModule {}

export async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  await app.listen(3000, '127.0.0.1');
}
