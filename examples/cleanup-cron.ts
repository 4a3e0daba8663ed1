import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { JobsModule, SingletonCron, type RunContext } from '@fencepost/jobs';
import { transition } from '@fencepost/lease/sinks';
import { Pool } from 'pg';

const { REDIS_URL: redis = 'redis://localhost:6379', PREFIX: prefix = 'carts' } = process.env;
const { DATABASE_URL: connectionString = 'postgres://localhost:5432/carts' } = process.env;
const DAY_MS = 86_400_000;

/** Of `carts (id bigint, status text, version int, touched_at timestamptz)`; `audit (cart bigint, run text)` has no key. */
type Cart = { readonly id: string; readonly version: number };

@Injectable()
export class CartCleanup implements OnApplicationShutdown {
  constructor(private readonly pool: Pool) {}

  @SingletonCron({ name: 'expire-carts', every: '1h' })
  async expire(run: RunContext): Promise<void> {
    const before = new Date(run.scheduledAt.getTime() - DAY_MS);
    const { rows } = await this.pool.query<Cart>(
      "SELECT id, version FROM carts WHERE status = 'OPEN' AND touched_at < $1 ORDER BY id",
      [before],
    );
    // After a crash an item is tried again: its cart is no longer OPEN then, and gets no second row.
    await run.forEach(
      rows,
      ({ id }) => id,
      (cart) => this.expireOne(cart, run.id),
      { ifUnknown: 'retry' },
    );
  }

  /** Unless its customer has touched it since it was read: that counted its version up. */
  async expireOne({ id, version }: Cart, run: string): Promise<void> {
    const connection = await this.pool.connect();
    try {
      await connection.query('BEGIN');
      const { won } = await transition(connection, { table: 'carts', id, from: 'OPEN', to: 'EXPIRED', version });
      if (won) await connection.query('INSERT INTO audit (cart, run) VALUES ($1, $2)', [id, run]);
      await connection.query('COMMIT');
    } catch (error) {
      await connection.query('ROLLBACK').catch(() => {}); // what broke the connection is the error to be thrown
      throw error;
    } finally {
      connection.release();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

@Module({
  imports: [JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis, prefix })],
  providers: [{ provide: Pool, useFactory: () => new Pool({ connectionString }) }, CartCleanup],
})
export class AppModule {}
