import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { JobHandler, SingletonCron, type RunContext } from '@fencepost/jobs';

/**
 * Two jobs to be tortured: `npx fencepost torture --app examples/dist/tortured.js`. The first hands the key of its effect on,
 * and sends under one name the same in every attempt. The second does neither.
 */
@Injectable()
export class Tortured {
  readonly #bank = new Bank();

  @SingletonCron('0 6 1 * *', { name: 'invoices', timeZone: 'Europe/Berlin' })
  async invoices(run: RunContext): Promise<void> {
    const month = run.scheduledAt.toISOString().slice(0, 7);
    const charge = ({ idempotencyKey }: { readonly idempotencyKey: string }) => this.#bank.charge(42, idempotencyKey);
    await run.effect('charge', charge, { payload: { month } });
  }

  @JobHandler('refund')
  async refund(run: RunContext): Promise<void> {
    await run.effect('refund', () => this.#bank.charge(-42));
    await run.effect(`mail-${Date.now()}`, () => 'sent', { ifUnknown: 'ask' });
  }
}

/** Remembers keys, as a payment provider does, and takes every call without one for a new charge. */
class Bank {
  readonly charges = new Map<string, number>();

  async charge(amount: number, key = `charge ${this.charges.size}`): Promise<void> {
    if (!this.charges.has(key)) this.charges.set(key, amount);
  }
}
