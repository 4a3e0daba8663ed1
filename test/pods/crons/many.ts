import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { LEASE_REDIS } from '@fencepost/lease/nest';

/** Counts how often each run's handler was called, for crons by the thousand. They are made at run time and name it. */
@Injectable()
export class Many {
  constructor(
    @Inject(LEASE_REDIS) private readonly redis: RedisClient,
    @Inject(JOBS_SETTINGS) private readonly settings: JobsSettings,
  ) {}

  @SingletonCron('0 0 1 1 *', { name: 'many', disabled: true })
  async run(run: RunContext): Promise<void> {
    await this.redis.hincrby(`${this.settings.prefix}:calls`, run.id, 1);
  }
}
