import 'reflect-metadata';
import { JobsModule, SingletonCron, StoreHealth, type RunContext } from '@fencepost/jobs';
import { JobsMetrics, MetricsModule } from '@fencepost/operations/metrics';
import { Controller, Get, Header, Inject, Injectable, Module, ServiceUnavailableException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

@Injectable()
class Prices {
  @SingletonCron('*/5 * * * *', { name: 'refresh-prices' })
  async refresh(run: RunContext): Promise<void> {
    await run.effect('fetch', () => `prices of ${run.scheduledAt.toISOString()}`);
  }
}

/** What the manifests ask of a pod. */
@Controller()
class Answers {
  constructor(
    @Inject(StoreHealth) private readonly stores: StoreHealth,
    @Inject(JobsMetrics) private readonly metrics: JobsMetrics,
  ) {}

  @Get('health/live')
  live(): string {
    return 'ok';
  }

  @Get('health/ready')
  async ready(): Promise<string> {
    const down = (await this.stores.check()).filter(({ up }) => !up);
    if (down.length > 0) throw new ServiceUnavailableException(down);
    return 'ok';
  }

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4')
  show(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}

const drainDeadline = process.env['FENCEPOST_DRAIN_DEADLINE'];
const jobs = JobsModule.forRoot({
  roles: ['worker'],
  redis: process.env['REDIS_URL'] ?? 'redis://localhost:6379',
  ...(drainDeadline !== undefined && { drainDeadline }),
});

@Module({ imports: [jobs, MetricsModule.on(jobs)], controllers: [Answers], providers: [Prices] })
class WorkerModule {}

const app = await NestFactory.create(WorkerModule);
app.enableShutdownHooks();
await app.listen(process.env['PORT'] ?? 3100, process.env['HOST'] ?? '127.0.0.1');
