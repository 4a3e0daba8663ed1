import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { Timeout } from '@nestjs/schedule';
import { Shop } from '../shop.js';

@Injectable()
export class ReportsService {
  constructor(@Inject(Shop) readonly shop: Shop) {}

  @SingletonCron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin' })
  async sendNightly(_run: RunContext) {
    await this.shop.mail('report');
  }

  @SingletonCron('0 0-23/1 * * *', {
    name: 'reports-clean-up',
    timeZone: 'Etc/GMT-2',
    grace: '1000ms',
    misfire: 'skip',
  })
  async cleanUp(_run: RunContext) {
    await this.shop.cleanUp();
  }

  @SingletonCron({ name: 'reports-poll-orders', every: '90s' })
  async pollOrders(_run: RunContext) {
    await this.shop.poll();
  }

  // fencepost: runs once in each pod, after its start. Keep it, move it to onApplicationBootstrap, or, for once in all pods, call Jobs.enqueue with a delay and an idempotencyKey.
  @Timeout(5_000)
  warmCache() {
    this.shop.warm();
  }
}
