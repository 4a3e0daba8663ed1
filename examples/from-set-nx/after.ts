import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { Shop } from '../shop.js';

@Injectable()
export class InvoicesService {
  constructor(@Inject(Shop) readonly shop: Shop) {}

  /** The lock is gone. A pod that dies is followed by another one, which goes on with the invoice that is next. */
  @SingletonCron('0 6 * * *', { name: 'send-invoices', timeZone: 'Europe/Berlin' })
  async sendInvoices(run: RunContext) {
    await run.forEach(
      ['alice', 'bob'],
      (customer) => customer,
      (customer, { idempotencyKey }) => this.shop.mail(customer, idempotencyKey),
    );
  }
}
