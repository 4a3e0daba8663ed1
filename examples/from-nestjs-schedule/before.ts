import { Inject, Injectable } from '@nestjs/common';
import { Cron, CronExpression, Interval, Timeout } from '@nestjs/schedule';
import { Shop } from '../shop.js';

@Injectable()
export class ReportsService {
  constructor(@Inject(Shop) readonly shop: Shop) {}

  @Cron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin', waitForCompletion: true })
  async sendNightly() {
    await this.shop.mail('report');
  }

  @Cron(CronExpression.EVERY_HOUR, { utcOffset: 120, threshold: 1000 })
  async cleanUp() {
    await this.shop.cleanUp();
  }

  @Interval(90_000)
  async pollOrders() {
    await this.shop.poll();
  }

  @Timeout(5_000)
  warmCache() {
    this.shop.warm();
  }
}
