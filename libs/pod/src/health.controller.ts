import { Controller, Get, Inject } from '@nestjs/common';
import { HealthCheck, HealthCheckService, HealthIndicatorService, type HealthCheckResult } from '@nestjs/terminus';
import { StoreHealth, type StoreStatus } from '@fencepost/jobs';

@Controller('health')
export class HealthController {
  constructor(
    @Inject(HealthCheckService) private readonly health: HealthCheckService,
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(StoreHealth) private readonly stores: StoreHealth,
  ) {}

  /** Whether the process itself works. Never asks a store: an outage there is no reason to restart every pod here. */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Whether the pod can do its work now: each store that it needs answers, and is as this release needs it. */
  @Get('ready')
  // Its description for Swagger would load that into every worker, some 530 files.
  @HealthCheck({ noCache: true, swaggerDocumentation: false })
  async ready(): Promise<HealthCheckResult> {
    const stores = await this.stores.check();
    return this.health.check(stores.map((status) => () => this.#indicate(status)));
  }

  #indicate({ store, up, message }: StoreStatus) {
    const indicator = this.indicators.check(store);
    return up ? indicator.up() : indicator.down({ message });
  }
}
