import { Controller, Get, Inject } from '@nestjs/common';
import { HealthCheck, HealthCheckService, HealthIndicatorService, type HealthCheckResult } from '@nestjs/terminus';
import { type RedisClient } from '@fencepost/lease';
import { LEASE_REDIS } from '@fencepost/lease/nest';

@Controller('health')
export class HealthController {
  constructor(
    @Inject(HealthCheckService) private readonly health: HealthCheckService,
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(LEASE_REDIS) private readonly redis: RedisClient,
  ) {}

  /** Whether the process itself works. Never asks Redis: an outage there is no reason to restart every pod here. */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Whether the pod can do its work now. */
  @Get('ready')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.#redis()]);
  }

  async #redis() {
    const indicator = this.indicators.check('redis');
    try {
      await this.redis.ping();
      return indicator.up();
    } catch {
      return indicator.down({ message: 'Redis does not answer' });
    }
  }
}
