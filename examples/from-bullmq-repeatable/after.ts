import { Inject, Injectable } from '@nestjs/common';
import { JobHandler, SingletonCron, type Jobs, type RunContext } from '@fencepost/jobs';
import { Shop } from '../shop.js';

@Injectable()
export class Digests {
  constructor(@Inject(Shop) readonly shop: Shop) {}

  @SingletonCron('0 0 8 * * 1', { name: 'weekly-digest', timeZone: 'Europe/Berlin', retry: { attempts: 5 } })
  async digest(run: RunContext) {
    await run.effect('mail', ({ idempotencyKey }) => this.shop.mail('digest', idempotencyKey));
  }

  @SingletonCron({ name: 'poll', every: '30s', misfire: 'skip' })
  async poll() {
    await this.shop.poll();
  }

  @JobHandler('welcome')
  async welcome(run: RunContext) {
    const { customer } = run.payload as { customer: string };
    await run.effect('mail', ({ idempotencyKey }) => this.shop.mail(`welcome ${customer}`, idempotencyKey));
  }
}

/** What a user asks for: `jobs` is injected wherever `JobsModule` is imported. */
export async function welcome(jobs: Jobs, customer: string) {
  await jobs.enqueue('welcome', { customer }, { idempotencyKey: `welcome-${customer}`, delay: '1m' });
}
