import { Inject, Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Shop } from '../shop.js';

/** The part of an ioredis client that the lock needs. */
export interface LockClient {
  set(key: string, value: string, px: 'PX', ms: number, nx: 'NX'): Promise<'OK' | null>;
}

@Injectable()
export class InvoicesService {
  constructor(
    readonly redis: LockClient,
    @Inject(Shop) readonly shop: Shop,
  ) {}

  /** The first pod that sets the key sends the invoices. One that dies afterwards takes the day's invoices with it. */
  @Cron('0 6 * * *', { timeZone: 'Europe/Berlin' })
  async sendInvoices() {
    const day = new Date().toISOString().slice(0, 10);
    const isMine = await this.redis.set(`lock:invoices:${day}`, 'mine', 'PX', 600_000, 'NX');
    if (isMine !== 'OK') return;
    await this.shop.mail('alice');
    await this.shop.mail('bob');
  }
}
