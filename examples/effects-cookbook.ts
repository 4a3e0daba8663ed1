import { Injectable } from '@nestjs/common';
import { EffectUnknownError, JobHandler, type JobRun, type TransactionalRunContext } from '@fencepost/jobs';
import { z } from 'zod';

/** As much of Stripe's client as the recipe calls. */
export interface Payments {
  create(
    charge: { readonly amount: number; readonly currency: string },
    options: { idempotencyKey: string },
  ): Promise<{ id: string }>;
}

/** As much of an S3 client as the recipe calls. */
export interface Bucket {
  put(object: { readonly key: string; readonly body: string; readonly ifNoneMatch: '*' }): Promise<void>;
}

/** A mail provider that knows no idempotency keys, and can be searched. */
export interface Mail {
  send(mail: { readonly to: string; readonly text: string; readonly messageId: string }): Promise<string>;
  find(messageId: string): Promise<string | null>;
}

const order = z.object({ id: z.string(), amount: z.int(), to: z.email() });
const orders = z.array(order);

@Injectable()
export class Cookbook {
  constructor(
    private readonly payments: Payments,
    private readonly bucket: Bucket,
    private readonly mail: Mail,
  ) {}

  @JobHandler('charge-order', { schema: order, criticality: 'correctness' })
  async charge(run: JobRun<typeof order>): Promise<void> {
    const { amount } = run.payload;
    const charge = { amount, currency: 'eur' };
    await run.effect('charge', ({ idempotencyKey }) => this.payments.create(charge, { idempotencyKey }), {
      ifUnknown: 'retry',
      keyTtl: '24h',
      payload: charge,
    });
  }

  @JobHandler('export-order', { schema: order })
  async export(run: JobRun<typeof order>): Promise<void> {
    const body = JSON.stringify(run.payload);
    await run.effect('upload', async () => {
      await this.bucket.put({ key: `orders/${run.id}.json`, body, ifNoneMatch: '*' }).catch(unlessThere);
    });
  }

  @JobHandler('confirm-order', { schema: order, criticality: 'correctness' })
  async confirm(run: JobRun<typeof order>): Promise<void> {
    const { to, id } = run.payload;
    const send = ({ idempotencyKey }: { readonly idempotencyKey: string }) =>
      this.mail.send({ to, text: `Thank you for order ${id}.`, messageId: idempotencyKey });
    await run.effect('send', send, {
      ifUnknown: async ({ idempotencyKey, ageMs }) => {
        const sent = await this.mail.find(idempotencyKey);
        if (sent !== null) return { done: sent };
        return ageMs > 60_000 ? 'not-done' : 'unknown';
      },
    });
  }

  @JobHandler('book-order', { schema: order, criticality: 'correctness', transactions: true })
  async book(run: JobRun<typeof order, TransactionalRunContext>): Promise<void> {
    await run.transaction(async (tx) => {
      await tx.query({
        text: 'INSERT INTO bookings (run, amount) VALUES ($1, $2)',
        values: [run.id, run.payload.amount],
      });
    });
  }

  @JobHandler('book-reminders', { schema: orders, transactions: true })
  async bookReminders(run: JobRun<typeof orders, TransactionalRunContext>): Promise<void> {
    await run.forEachTransaction(run.payload, { keyOf: ({ id }) => id }, async (tx, batch) => {
      const ids = batch.map(({ id }) => id);
      await tx.query({ text: 'INSERT INTO reminders (order_id) SELECT unnest($1::text[])', values: [ids] });
    });
  }

  @JobHandler('remind-customers', { schema: orders })
  async remind(run: JobRun<typeof orders>): Promise<void> {
    await run.forEach(
      run.payload,
      ({ id }) => id,
      ({ to }, { idempotencyKey }) => this.mail.send({ to, text: 'Your order waits.', messageId: idempotencyKey }),
      { name: 'reminders', batchSize: 20 },
    );
  }
}

/** An object that is there was put there by an earlier attempt: nobody else knows the key. */
function unlessThere(error: unknown): void {
  if (error instanceof Error && error.name === 'PreconditionFailed') return;
  throw error;
}

/** Wraps a client that hides a broken connection behind an error of its own. */
export async function knownOutcome<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Error && error.name === 'ProviderUnavailable') throw new EffectUnknownError(error.message);
    throw error;
  }
}
