import { Injectable, Module } from '@nestjs/common';
import { JobHandler, JobsModule, type JobRun } from '@fencepost/jobs';
import { z } from 'zod';

const { REDIS_URL: redis = 'redis://localhost:6379', PREFIX: prefix = 'customers' } = process.env;

/** A system that mixes up two changes of one customer that come at once. */
@Injectable()
export class Crm {
  async update(_customer: string, _change: string): Promise<void> {}
}

const change = z.object({ customer: z.string(), change: z.string() });

@Injectable()
export class CustomerSync {
  constructor(private readonly crm: Crm) {}

  /** One after the other for each customer, on whichever replica; different customers at once. In no promised order. */
  @JobHandler('sync-customer', {
    schema: change,
    concurrencyKey: (payload) => change.parse(payload).customer,
    maxPerKey: 1,
  })
  async sync(run: JobRun<typeof change>): Promise<void> {
    const { payload } = run;
    await run.effect('update', () => this.crm.update(payload.customer, payload.change));
  }
}

@Module({
  imports: [JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis, prefix, concurrency: 10 })],
  providers: [Crm, CustomerSync],
})
export class AppModule {}
