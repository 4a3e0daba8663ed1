import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { Shop } from '../shop.js';

@Injectable()
export class CleanUp {
  constructor(@Inject(Shop) readonly shop: Shop) {}

  @SingletonCron('15 2 * * *', {
    name: 'clean-up',
    timeZone: 'Europe/Berlin',
    overlap: 'skip',
    catchUpWindow: '1h',
    startDeadline: '1h',
    timeout: '15m',
    retry: { attempts: 5, delay: '10s' },
  })
  async run(run: RunContext) {
    await run.effect('clean-up', () => this.shop.cleanUp());
    await run.effect('mail', ({ idempotencyKey }) => this.shop.mail('clean-up is done', idempotencyKey));
  }
}
