import { Controller, Get, Header, Inject, Injectable, UnauthorizedException, UseGuards } from '@nestjs/common';
import type { CanActivate, ExecutionContext, OnModuleInit } from '@nestjs/common';
import { JobsMetrics } from '@fencepost/operations/metrics';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricsAccess } from './metrics-access.js';

/** Who may read the metrics: {@link MetricsAccess}. */
export const METRICS_ACCESS = Symbol('METRICS_ACCESS');

const REFUSED =
  'Expected a token of a viewer as "Authorization: Bearer <token>". FENCEPOST_TOKENS names those that are known; ' +
  'FENCEPOST_METRICS_OPEN=true shows the metrics to whoever reaches this pod.';

@Injectable()
export class MetricsGuard implements CanActivate {
  constructor(@Inject(METRICS_ACCESS) private readonly access: MetricsAccess) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ readonly headers: Record<string, string | undefined> }>();
    if (this.access.admits(headers)) return true;
    throw new UnauthorizedException(REFUSED);
  }
}

/** What Prometheus reads: crons, runs and leases, and the process itself. */
@Controller('metrics')
@UseGuards(MetricsGuard)
export class MetricsController implements OnModuleInit {
  constructor(@Inject(JobsMetrics) private readonly metrics: JobsMetrics) {}

  onModuleInit(): void {
    const { registry } = this.metrics;
    if (!registry.getSingleMetric('process_start_time_seconds')) collectDefaultMetrics({ register: registry });
  }

  @Get()
  @Header('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  @Header('Cache-Control', 'no-store')
  show(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
