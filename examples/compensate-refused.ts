import { Injectable, Module } from '@nestjs/common';
import { JobHandler, JobsModule, type JobRun, type TransactionalRunContext } from '@fencepost/jobs';
import { sql } from '@fencepost/lease/postgres';
import { transition } from '@fencepost/lease/sinks';
import { z } from 'zod';

const { REDIS_URL: redis = 'redis://localhost:6379', PREFIX: prefix = 'seats' } = process.env;
const { DATABASE_URL: url = 'postgres://localhost:5432/seats' } = process.env;

/** Your payment provider, which honours idempotency keys. */
@Injectable()
export class Payments {
  async charge(_guest: string, _cents: number, idempotencyKey: string): Promise<string> {
    return `charge of ${idempotencyKey}`;
  }

  async refund(_charge: string, _idempotencyKey: string): Promise<void> {}
}

/** `version` is the one that the guest was shown: `seats (id bigint, status text, version int, guest text)`. */
const booking = z.object({ seat: z.int(), version: z.int(), guest: z.string(), cents: z.int() });

@Injectable()
export class Bookings {
  constructor(private readonly payments: Payments) {}

  @JobHandler('book-seat', { schema: booking, transactions: true })
  async book(run: JobRun<typeof booking, TransactionalRunContext>): Promise<void> {
    const { seat, version, guest, cents } = run.payload;
    const charge = await run.effect('charge', (e) => this.payments.charge(guest, cents, e.idempotencyKey), KEYED);

    const move = { table: 'seats', id: seat, from: 'FREE', to: 'BOOKED', version, set: sql`guest = ${guest}` };
    const { won } = await run.transaction((tx) => transition(tx, move));
    if (won) return;

    // The refusal is recorded, so each later attempt comes here too, and the refund is an effect like the charge.
    await run.effect('refund', (e) => this.payments.refund(charge, e.idempotencyKey), KEYED);
  }
}

const KEYED = { ifUnknown: 'retry', keyTtl: '24h' } as const;

@Module({
  imports: [
    JobsModule.forRoot({
      ...{ roles: ['scheduler', 'worker'], redis, prefix },
      ...{ ledger: 'postgres', postgres: { url, migrate: true } },
    }),
  ],
  providers: [Payments, Bookings],
})
export class AppModule {}
