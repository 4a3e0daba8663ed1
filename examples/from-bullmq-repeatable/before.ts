import { Inject, Injectable } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { Shop } from '../shop.js';

@Injectable()
export class DigestQueue {
  constructor(
    readonly queue: Pick<Queue, 'upsertJobScheduler' | 'add'>,
    @Inject(Shop) readonly shop: Shop,
  ) {}

  async onApplicationBootstrap() {
    const repeat = { pattern: '0 0 8 * * 1', tz: 'Europe/Berlin' };
    await this.queue.upsertJobScheduler('weekly-digest', repeat, { name: 'digest', opts: { attempts: 5 } });
    await this.queue.upsertJobScheduler('poll', { every: 30_000 }, { name: 'poll' });
  }

  /** What a user asks for beside it. */
  async welcome(customer: string) {
    await this.queue.add('welcome', { customer }, { jobId: `welcome-${customer}`, delay: 60_000 });
  }

  /** The processor of the worker. */
  async process({ name, data }: Pick<Job<{ customer: string }>, 'name' | 'data'>) {
    if (name === 'digest') await this.shop.mail('digest');
    if (name === 'poll') await this.shop.poll();
    if (name === 'welcome') await this.shop.mail(`welcome ${data.customer}`);
  }
}
