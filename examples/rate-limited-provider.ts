import { Inject, Injectable, Module, type BeforeApplicationShutdown } from '@nestjs/common';
import { JobHandler, JobsModule, type JobRun } from '@fencepost/jobs';
import { RedisSemaphoreStore, Semaphores, type Semaphore } from '@fencepost/lease/coordination';
import { LEASE_REDIS, LeaseModule } from '@fencepost/lease/nest';
import type { RedisClient } from '@fencepost/lease/redis';
import { z } from 'zod';

const { REDIS_URL: redis = 'redis://localhost:6379', PREFIX: prefix = 'sms' } = process.env;

/** Takes five messages a second of one account, and two at once, from whichever program they come. */
@Injectable()
export class Provider {
  async send(_to: string, _text: string, _idempotencyKey: string): Promise<void> {}
}

const message = z.object({ to: z.string(), text: z.string() });

@Injectable()
export class Messages implements BeforeApplicationShutdown {
  readonly #semaphores: Semaphores;
  readonly #connections: Semaphore;

  constructor(
    @Inject(LEASE_REDIS) client: RedisClient,
    private readonly provider: Provider,
  ) {
    const store = new RedisSemaphoreStore({ redis: client, prefix, tenant: 'default' });
    this.#semaphores = new Semaphores({ store });
    this.#connections = this.#semaphores.of('sms-provider', { places: 2 });
  }

  /** `rateLimit` is about this job, on all replicas; the semaphore also about what sends without a job. */
  @JobHandler('send-sms', { schema: message, rateLimit: { max: 5, per: '1s' } })
  async send(run: JobRun<typeof message>): Promise<void> {
    const { to, text } = run.payload;
    await this.#connections.using({ wait: '1m', signal: run.signal }, () =>
      run.effect('send', ({ idempotencyKey }) => this.provider.send(to, text, idempotencyKey), KEYED),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#semaphores.close();
  }
}

const KEYED = { ifUnknown: 'retry', keyTtl: '24h' } as const;

@Module({
  imports: [
    JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis, prefix, concurrency: 20 }),
    LeaseModule.forRoot({ redis, prefix }),
  ],
  providers: [Provider, Messages],
})
export class AppModule {}
